"""`python -m contract_writer`: write every contract file anew."""

from __future__ import annotations

from contract_writer.documents import SERVICES, documents


def main() -> None:
    for service in SERVICES:
        for path, text in documents(service):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                print(f"written: {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
