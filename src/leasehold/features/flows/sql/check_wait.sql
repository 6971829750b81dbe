-- Refuse a step that would wait for what cannot come.
-- internal
create or replace function leasehold.check_wait(p_kind text, p_wait jsonb) returns void
language plpgsql stable as $$
declare
  v_known text[] := case p_kind
    when 'flow.approval' then array['seconds', 'by_default'] when 'flow.signal' then array['signal', 'key', 'seconds']
    when 'flow.sleep' then array['seconds', 'until'] when 'flow.join' then '{}'
  end;
  v_unknown text;
begin
  if v_known is null then
    raise exception '% waits for nothing', quote_nullable(p_kind)
      using errcode = 'LH400', hint = 'steps that wait are flow.approval, flow.signal, flow.sleep and flow.join';
  end if;
  select w into v_unknown from jsonb_object_keys(p_wait) w where w <> all(v_known) limit 1;
  if found then
    raise exception '% does not wait for %', p_kind, quote_literal(v_unknown) using errcode = 'LH400';
  end if;
  if (p_wait ->> 'seconds')::numeric not between 0 and 315576000
    or (p_wait ->> 'until')::timestamptz > leasehold.now() + interval '10 years' then
    raise exception 'a step waits at most ten years' using errcode = 'LH400';
  end if;
  if p_wait ->> 'by_default' not in ('approve', 'reject') then
    raise exception 'by_default is approve or reject' using errcode = 'LH400';
  end if;
  if p_kind = 'flow.sleep' and num_nonnulls(p_wait ->> 'seconds', p_wait ->> 'until') <> 1 then
    raise exception 'a sleep has either seconds or until' using errcode = 'LH400';
  end if;
  if p_kind = 'flow.signal' then
    perform leasehold.check_signal(p_wait ->> 'signal', p_wait ->> 'key');
  end if;
end
$$;
