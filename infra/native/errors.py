"""What the stack says when it cannot go on."""


class StackError(Exception):
    """The stack cannot do what was asked. `str()` says what is wrong, `mend` what a person does about it."""

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.mend = mend
        self.add_note(mend)  # where nobody catches it, a traceback says it too
