"""Why an operator's wish about a job is refused.

DomainError
├── NotFound ── JobNotFound
└── Conflict ── JobStateConflict    the job is in a state that does not allow it
"""

from __future__ import annotations

from typing import ClassVar, Final

from service_platform.errors import Conflict, NotFound
from service_platform.messages import Catalogue

MESSAGES: Final = Catalogue(
    {
        "job-not-found": {
            "en": "There is no such job",
            "vi": "Không có công việc này",
        },
        "job-not-found.detail": {
            "en": "List the jobs of the service that owns the kind. Finished ones are deleted after a while.",
            "vi": "Hãy liệt kê công việc của dịch vụ sở hữu loại đó. Công việc đã xong sẽ bị xóa sau một thời gian.",
        },
        "job-state-conflict": {
            "en": "The job's state does not allow this",
            "vi": "Trạng thái của công việc không cho phép thao tác này",
        },
        "job-state-conflict.detail": {
            "en": "It is {state}. Failed, dead and needs_review jobs can be retried; pending, failed and running ones "
            "cancelled; dead and needs_review ones resolved.",
            "vi": "Nó đang ở trạng thái {state}. Có thể thử lại công việc failed, dead và needs_review; hủy công việc "
            "pending, failed và running; kết luận công việc dead và needs_review.",
        },
    }
)


class JobNotFound(NotFound, messages=MESSAGES):
    """There is no job with this id."""

    slug = "job-not-found"
    example: ClassVar = {"job_id": "3f0a9d52-7c41-4f6b-8a1e-2b9c0d4e5f60"}


class JobStateConflict(Conflict, messages=MESSAGES):
    """The job is in a state that does not allow what was asked."""

    slug = "job-state-conflict"
    example: ClassVar = {"job_id": "3f0a9d52-7c41-4f6b-8a1e-2b9c0d4e5f60", "state": "done"}
