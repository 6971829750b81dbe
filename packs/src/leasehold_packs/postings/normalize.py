"""Where, how much and at which level: the words of boards in one spelling, None where they do not say."""

import re

_REMOTE_WORDS = (
    ("hybrid", re.compile(r"(?i)\bhybrid\b")),
    ("remote", re.compile(r"(?i)\b(?:remote|telecommute|work from home|home[- ]?office|anywhere)\b")),
    ("onsite", re.compile(r"(?i)\b(?:on[-_ ]?site|in[-_ ]?office|in[-_ ]person)\b")),
)
# The first that fits: a senior manager is a manager, a staff engineer is no senior.
_SENIORITY_WORDS = (
    ("intern", r"intern(?:ship)?|trainee|apprentice(?:ship)?|working student|werkstudent(?:in)?|praktikant(?:in)?"),
    ("executive", r"chief|c[eftomp]o|vp|svp|evp|vice president|president"),
    ("director", r"director|head of|head"),
    ("manager", r"manager|mgr"),
    ("principal", r"principal|distinguished|fellow"),
    ("staff", r"staff"),
    ("lead", r"lead|leader|team lead"),
    ("senior", r"senior|sr|iii|iv"),
    ("junior", r"junior|jr|entry[- ]level|graduate|new grad|associate"),
    ("mid", r"mid[- ]?level|intermediate|ii"),
)
_SENIORITY_OF = tuple((name, re.compile(rf"(?i)(?<!\w)(?:{words})(?!\w)")) for name, words in _SENIORITY_WORDS)
_EMPLOYMENT_WORDS = (
    ("internship", r"intern|praktik|trainee|working.?student"),
    ("part_time", r"part|teilzeit"),
    ("contract", r"contract|freelance|1099"),
    ("temporary", r"temp|fixed.?term|seasonal|befristet"),
    ("volunteer", r"volunt"),
    ("full_time", r"full|permanent|regular|vollzeit|fest"),
)
_EMPLOYMENT_OF = tuple((name, re.compile(f"(?i){words}")) for name, words in _EMPLOYMENT_WORDS)


def remote_of(*texts: str | None) -> str | None:
    """What the first text says that says anything: a field of the board, the place, the title."""
    for text in texts:
        for name, words in _REMOTE_WORDS:
            if text and words.search(text):
                return name
    return None


def seniority_of(*texts: str | None) -> str | None:
    """By the words of a title, or of a field for the level."""
    return next((name for text in texts if text for name, words in _SENIORITY_OF if words.search(text)), None)


def employment_of(text: str | None) -> str | None:
    if not text:
        return None
    return next((name for name, words in _EMPLOYMENT_OF if words.search(text)), "other")
