"""Builds that must be caught: a function of the engine is changed in the private database before a run."""

from leasehold.database import sql_files
from tests.chaos.database import Private

#: Remembers who was given which token, so that a late one can be taken for the current one.
_REMEMBER = """
create table leasehold.given (token bigint primary key, job_id uuid not null);
create function leasehold.remember() returns trigger language plpgsql security definer
as $$ begin insert into leasehold.given values (new.token, new.job_id); return new; end $$;
create trigger remember after insert on leasehold.lease for each row execute function leasehold.remember();
create function leasehold.taken_for(p_tokens bigint[]) returns bigint[] language sql security definer
as $$ select coalesce(array_agg(coalesce(l.token, t.token) order by t.n), '{}')
      from unnest(p_tokens) with ordinality t(token, n)
      left join leasehold.given g on g.token = t.token left join leasehold.lease l on l.job_id = g.job_id $$;
"""
_UNTOLD = "  if false then\n    raise exception 'worker"
_UNFENCED = "p_tokens := leasehold.taken_for(p_tokens);"

#: name -> what is run first, and for each file which text is replaced by which.
MUTANTS: dict[str, tuple[str, dict[str, list[tuple[str, str]]]]] = {
    "fencing": (  # any token of a job will do, and a worker that was declared lost is not told
        _REMEMBER,
        {
            "functions/finish.sql": [
                ("  if p_outcomes is null and", f"  {_UNFENCED}\n  if p_outcomes is null and"),
            ],
            "functions/exchange.sql": [("  if not found then\n    raise exception 'worker", _UNTOLD)],
            "functions/heartbeat.sql": [("  if not found then\n    raise exception 'worker", _UNTOLD)],
            "functions/append_event.sql": [
                ("where token = p_token returning", "where token = any(leasehold.taken_for(array[p_token])) returning"),
            ],
        },
    ),
    "reaper": (  # whoever is alive loses its leases
        "",
        {
            "functions/rescue_silent_workers.sql": [
                (
                    "where ended_at is null and beat_at < v_now - make_interval(secs => lease_s)",
                    "where ended_at is null and random() < 0.1",
                )
            ]
        },
    ),
    "floor": (  # what commits late is not looked for
        "",
        {
            "functions/advance_lane_floor.sql": [
                ("if v_rows is not null then", "if false then"),
                ("floor := least(v_lowest, v_clock);", "floor := v_clock;"),
            ]
        },
    ),
    "stall": (  # now and then an enqueue holds up all that share its commit
        "",
        {
            "functions/insert_plain_jobs.sql": [
                ("\nbegin\n", "\nbegin\n  perform pg_sleep(case when random() < 0.1 then 1.5 else 0 end);\n")
            ]
        },
    ),
    "forgetful": ("", {}),  # what waits is left out of a dump
}
#: Options of pg_dump for a mutant of backups.
DUMPS = {"forgetful": ("--exclude-table-data=leasehold.ready", "--exclude-table-data=leasehold.deferred")}


async def plant(database: Private, name: str) -> None:
    first, files = MUTANTS[name]
    texts = {file.name: file.text for file in sql_files.read_all()}
    async with database.admin() as connection, connection.transaction():
        await connection.execute(f"set local role leasehold_owner; {first}")
        for file, changes in files.items():
            text = texts[file]
            for before, after in changes:
                assert before in text, f"the mutant fits {file}"
                text = text.replace(before, after)
            await connection.execute(text)
