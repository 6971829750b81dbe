"""How every Hypothesis machine here is played."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def play(machine: type[RuleBasedStateMachine], examples: int, *, shrink: bool = True) -> None:
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            phases=phases,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
