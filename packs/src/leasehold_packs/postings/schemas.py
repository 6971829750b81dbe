"""The bodies of requests, and what stands around values in answers."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from leasehold_packs.postings import search
from leasehold_packs.postings.model import Options, Words
from leasehold_packs.postings.model_postings import Application, CompanySuccess, PostingSummary


class DetectRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"url": "https://jobs.lever.co/acme"}]})

    url: str = Field(min_length=8, max_length=2000, description="Of a board, or of a company's page about jobs.")


class SourceRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"url": "https://jobs.lever.co/acme"},
                {"board": "recruitee", "slug": "acme", "base": "https://jobs.acme.example", "company": "Acme"},
            ]
        },
    )

    url: str | None = Field(None, min_length=8, max_length=2000)
    board: str | None = Field(None, max_length=50, description="With slug, instead of a url.")
    slug: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    base: str | None = Field(None, min_length=8, max_length=500, description="For a board on a host of its own.")
    company: str | None = Field(None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    options: Options = Field(default_factory=Options)


class SourceChange(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"enabled": False}]})

    enabled: bool | None = Field(None, strict=True)
    options: Options | None = None


class ClosingsRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"close": True}, {"close": False}]})

    close: bool = Field(strict=True, description="Whether what is missing is really gone.")


class RunRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"details": "all"}]})

    sources: list[UUID] | None = Field(None, min_length=1, max_length=1000, description="All enabled ones if left out.")
    details: Literal["due", "all"] = Field(
        "due", description="all: read every text again, not only those that are due."
    )


class PreferenceRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"companies": None, "title_include": ["engineer"]}]}
    )

    companies: list[UUID] | None = Field(None, max_length=1000, description="null: all of them.")
    title_include: Words = Field(default_factory=list)
    title_exclude: Words = Field(default_factory=list)


class SearchRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Rust from home", "query": {"q": "rust", "remote": ["remote"]}}]},
    )

    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")
    query: search.Query


class ApplicationRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"stage": "applied", "note": "by mail"}]})

    stage: Literal["saved", "applied", "interview", "offer", "rejected"] = "saved"
    note: str | None = Field(None, max_length=5000, pattern=r"^[^\x00]*$")
    due: date | None = Field(None, description="When something is to be done about it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRunning:
    """The look at an address takes longer; ``/v1/jobs/{job_id}`` has its result."""

    job_id: UUID
    state: Literal["running"] = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The words that were looked for, and those that were written."""

    q: str
    instead_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingsFound:
    """``alike``: no posting has the words, and these titles look like them. Facets are there if they are asked for."""

    data: list[PostingSummary]
    next_cursor: str | None
    has_more: bool
    corrected: Corrected | None = None
    alike: bool = False
    total: int | None = None
    at_least: bool | None = None
    facets: dict[str, list[search.FacetChoice]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The applications of a person, and how far they went at each company."""

    data: list[Application]
    companies: list[CompanySuccess] = field(default_factory=list)
