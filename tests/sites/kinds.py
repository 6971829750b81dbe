"""All kinds of fault and all twins: importing the modules fills the tables."""

from tests.sites import kinds_answers, kinds_content, kinds_head, kinds_index, kinds_links, twins
from tests.sites.model import KINDS, TWINS

__all__ = [
    "KINDS",
    "TWINS",
    "kinds_answers",
    "kinds_content",
    "kinds_head",
    "kinds_index",
    "kinds_links",
    "twins",
]
