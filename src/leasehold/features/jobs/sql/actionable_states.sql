-- The states that a bulk action applies to, narrowed by the state that its filter names.
-- internal
create or replace function leasehold.actionable_states(p_action text, p_filter jsonb) returns text[]
language plpgsql immutable as $$
declare
  v_states text[] := case p_action
    when 'retry' then array['failed', 'dead', 'canceled']
    when 'cancel' then array['scheduled', 'blocked', 'queued', 'running']
    when 'delete' then array['succeeded', 'failed', 'dead', 'canceled']
  end;
begin
  if v_states is null then
    raise exception 'there is no action %', coalesce(quote_literal(p_action), 'null')
      using errcode = 'LH400', hint = 'actions: retry, cancel, delete';
  end if;
  if coalesce(p_filter, '{}') = '{}' then
    raise exception 'a bulk action needs a filter' using errcode = 'LH400', hint = 'say which jobs: kind, queue, state, tag, created_before, …';
  end if;
  return case when p_filter ? 'state' then array(select unnest(v_states) intersect select p_filter ->> 'state') else v_states end;
end
$$;
