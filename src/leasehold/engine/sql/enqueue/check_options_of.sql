-- Refuse options that cannot be given here: for a kind, a step of a flow or a schedule (see known_options). p_what names
-- it in the message.
-- internal
create or replace function leasehold.check_options_of(p_of text, p_what text, p_options jsonb) returns void
language plpgsql stable as $$
declare
  c_known  constant text[] := leasehold.known_options(p_of);
  v_option text;
begin
  perform leasehold.check_options(leasehold.given_options(p_options));
  select o into v_option from jsonb_each(p_options) g(o, value)
  where o <> all(c_known) and jsonb_typeof(value) <> 'null' limit 1;
  if found then
    raise exception '% cannot have the option %', p_what, quote_literal(v_option)
      using errcode = 'LH400', hint = case
        when p_of = 'kind' then 'give it with each job; a kind has: '
        when v_option = 'expires_at' then 'give the schedule an ends_at; its jobs have: '
        when p_of = 'schedule' then 'the schedule itself decides that by its ticks and its overlap; its jobs have: '
        else 'every step of a flow is a new job; enqueue a job outside the flow, or leave the option out; a step has: '
      end || array_to_string(c_known, ', ');
  end if;
end
$$;
