-- The gate of a job by its payload: each {member} of the template is replaced by that member of the payload, {a.b} by a
-- member of a member, {url|host} by the host of a URL, in lower case.
--
-- A payload that leaves a hole open is refused: without a gate the job would start at any rate. So is a value with braces,
-- which could be taken for a template again.
-- internal
create or replace function leasehold.fill_gate(p_template text, p_payload jsonb) returns text
language plpgsql immutable as $$
declare
  v_gate  text := p_template;
  v_hole  text;
  v_path  text[];
  v_value text;
begin
  for v_hole in select distinct m[1] from regexp_matches(p_template, '\{([^{}]*)\}', 'g') m loop
    v_path := string_to_array(split_part(v_hole, '|', 1), '.');
    v_value := case
      when jsonb_typeof(p_payload #> v_path) in ('string', 'number', 'boolean') then p_payload #>> v_path
    end;
    if v_hole like '%|host' then
      v_value := lower(substring(
        v_value from '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#\\]*@)?(\[[0-9A-Fa-f:.]+\]|[^/?#\\:@]+)'
      ));
    end if;
    if coalesce(v_value, '') = '' or v_value ~ '[{}]' then
      raise exception 'the gate % needs % in the payload', quote_literal(p_template), case
        when v_hole like '%|host' then format('a URL as %s', quote_literal(split_part(v_hole, '|', 1)))
        else format('a text or a number as %s', quote_literal(v_hole))
      end using errcode = 'LH400', hint = 'send it, or give this job a gate of its own; braces cannot be part of it';
    end if;
    v_gate := replace(v_gate, '{' || v_hole || '}', v_value);
  end loop;
  perform leasehold.check_gate(to_jsonb(v_gate));
  return v_gate;
end
$$;
