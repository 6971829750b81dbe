"""Which fault comes when, and to whom: made from the seed alone."""

import random
from dataclasses import dataclass

WORKERS = ("w1", "w2", "w3", "w4")
#: They work over HTTP, for jobs that nobody else takes.
REMOTE = ("r1", "r2")
#: These reach PostgreSQL, or the server, through a proxy; the last worker with a database has a
#: clock of its own.
PROXIED = ("w3", "w4", "r2")
SHIFTED = "w4"
PRODUCERS = ("p1", "p2")
SERVER = "s1"
#: Enqueues plain jobs of a tenant of its own, ten a second whatever happens, and measures how long
#: each takes.
PROBE = "q1"
LEASE_SECONDS = 3.0
#: What workers and the server wait for an answer of the database.
CALL_SECONDS = 3.0

#: Kinds of faults, by how often they come.
WEIGHTS = {
    "kill worker": 26,
    "kill all workers": 3,
    "kill producer": 3,
    "kill server": 2,
    "deploy worker": 5,  # SIGTERM, and another comes
    "freeze worker": 10,  # SIGSTOP past the lease, then SIGCONT
    "terminate backends": 10,
    "restart postgres": 5,  # immediate stop under load
    "freeze postgres": 4,  # SIGSTOP to all its processes, then SIGCONT
    "lose standby": 2,
    "cut": 16,
    "delay": 6,
    "half-open": 6,
    "abandon": 4,  # connections stay open, and carry nothing ever again; new ones work
    "shift clock": 5,
    "limit memory": 4,
    "fill disk": 2,
    "poison": 2,  # a job that aborts its process
    "slow headers": 3,
    "worst bodies": 3,
    "hold locks": 4,  # a tenant keeps others of its own requests waiting
    "dump": 1,  # what it has is restored and checked after the run
}
#: While these last, and for a while after, nobody can be served.
AWAY = frozenset({"kill server", "restart postgres", "freeze postgres", "fill disk", "abandon"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    at: float  # seconds after the start
    kind: str
    who: str = ""
    seconds: float = 0.0  # how long it lasts
    size: float = 0.0  # how much: backends, seconds of delay or of the clock


def plan(seed: int, seconds: float) -> list[Fault]:
    """One of each kind first, in any order, so that a short run has them too; then as the weights say."""
    dice = random.Random(seed)
    kinds = list(WEIGHTS)
    dice.shuffle(kinds)
    faults: list[Fault] = []
    at = dice.uniform(1.0, 3.0)
    while at < seconds:
        kind = kinds.pop() if kinds else dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        faults.append(_fault(kind, at, dice))
        at += dice.uniform(0.5, 3.5)
    return faults


def _fault(kind: str, at: float, dice: random.Random) -> Fault:
    anybody = (*WORKERS, *REMOTE)
    match kind:
        case "kill worker" | "deploy worker" | "limit memory":
            return Fault(at=at, kind=kind, who=dice.choice(anybody), seconds=dice.uniform(1.0, 3.0))
        case "freeze worker":
            return Fault(at=at, kind=kind, who=dice.choice(anybody), seconds=LEASE_SECONDS + dice.uniform(0.5, 3.0))
        case "kill producer":
            return Fault(at=at, kind=kind, who=dice.choice(PRODUCERS))
        case "terminate backends":
            return Fault(at=at, kind=kind, size=dice.randint(1, 8))
        case "delay":
            return Fault(at=at, kind=kind, seconds=dice.uniform(1.0, 4.0), size=dice.uniform(0.02, 0.8))
        case "half-open":
            return Fault(at=at, kind=kind, seconds=dice.uniform(1.0, LEASE_SECONDS + 2.0))
        case "shift clock":
            return Fault(at=at, kind=kind, who=SHIFTED, size=dice.choice((-86400, -3600, -30, 0, 30, 3600, 86400)))
        case "fill disk":
            return Fault(at=at, kind=kind, seconds=dice.uniform(1.0, 3.0))
        case "freeze postgres":
            return Fault(at=at, kind=kind, seconds=dice.uniform(0.5, 3 * LEASE_SECONDS))
        case "abandon":  # until those that wait on them have been told
            return Fault(at=at, kind=kind, seconds=2 * CALL_SECONDS)
        case "restart postgres":
            return Fault(at=at, kind=kind, seconds=dice.uniform(0.0, 2.0))
        case "lose standby" | "worst bodies" | "hold locks":
            return Fault(at=at, kind=kind, seconds=dice.uniform(2.0, 6.0))
        case "slow headers":
            return Fault(at=at, kind=kind, seconds=dice.uniform(5.0, 12.0))
        case _:
            return Fault(at=at, kind=kind)
