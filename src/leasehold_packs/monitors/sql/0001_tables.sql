-- Product monitors. A site has products, a product has offers (variants); an offer's row is what is true now, observations are
-- what was true before, changes are what was told.

create table pack.site (
  site_id    uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  url        text not null,
  key        bytea not null,           -- SHA-256 of its url_key
  state      text not null default 'new' check (state in ('new', 'active', 'paused')),
  settings   jsonb not null,
  tested     jsonb,                    -- what the test read found: platform, warnings
  health     jsonb,                    -- what the hourly job found
  created_at timestamptz not null default leasehold.now(),
  unique (tenant_id, key)
);

-- Products of different sites that are the same thing.
create table pack.product_group (
  group_id   uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  match      text not null,            -- gtin:… or mpn:…
  name       text,
  created_at timestamptz not null default leasehold.now(),
  unique (tenant_id, match)
);

create table pack.product (
  product_id    uuid primary key default gen_random_uuid(),
  tenant_id     uuid not null,
  site_id       uuid not null references pack.site on delete cascade,
  group_id      uuid references pack.product_group on delete set null,
  url           text not null,
  key           bytea not null,        -- what is one product never depends on what is read off its page
  state         text not null default 'active' check (state in ('active', 'paused', 'gone', 'needs_attention')),
  reason        text,
  tags          text[] not null default '{}',
  selector      text,                  -- a person's word on where the price stands
  name          text,
  brand         text,
  image         text,
  sku           text,
  gtin          text,
  mpn           text,
  platform_id   text,
  id_method     text,
  facts         jsonb,                 -- the newest reading, each value with where it was found and how sure it is
  facts_digest  text,
  extractor     integer,
  body          text,                  -- digest of the page in the body store
  media_type    text,
  feed          text,                  -- the same of what its platform says beside the page
  simhash       bigint,
  checked_at    timestamptz,
  result        text,                  -- of the newest check
  without_price integer not null default 0,  -- checks in a row
  missing_since timestamptz,
  created_at    timestamptz not null default leasehold.now(),
  unique (site_id, key)
);
create index product_by_group on pack.product (group_id) where group_id is not null;
create index product_by_brand on pack.product (tenant_id, lower(brand));

-- One way to buy a product, and what it costs now. Amounts in different currencies are never compared.
create table pack.offer (
  offer_id     uuid primary key default gen_random_uuid(),
  tenant_id    uuid not null,
  product_id   uuid not null references pack.product on delete cascade,
  variant      text not null default '',  -- '' is the product as its page shows it
  price        numeric(20, 6),
  currency     char(3),
  list_price   numeric(20, 6),
  availability text,
  method       text,                   -- of the price
  stock_method text,
  confidence   real,
  body         text,
  told_price   numeric(20, 6),         -- of the newest change that was told
  low          numeric(20, 6),         -- in this currency
  high         numeric(20, 6),
  since        timestamptz not null,
  seen_at      timestamptz not null,
  unique (product_id, variant),
  check (price is null or currency is not null)
);

-- Written when something is other than before. The newest one of an offer holds until the next.
create table pack.observation (
  offer_id     uuid not null,
  at           timestamptz not null,
  tenant_id    uuid not null,
  price        numeric(20, 6),
  currency     char(3),
  list_price   numeric(20, 6),
  availability text,
  method       text,
  confidence   real,
  body         text,
  pointer      text,
  check (price is null or currency is not null),
  primary key (offer_id, at)
) partition by range (at);

create table pack.change (
  change_id   uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  product_id  uuid not null references pack.product on delete cascade,
  variant     text not null default '',
  kind        text not null check (kind in ('price', 'currency', 'availability', 'gone', 'returned')),
  before      jsonb not null,
  after       jsonb not null,
  percent     numeric(12, 4),
  state       text not null check (state in ('pending', 'confirmed', 'dismissed')),
  doubt       text,                    -- why it had to be seen twice
  told        boolean not null default false,
  body_before text,
  body_after  text,
  at          timestamptz not null default leasehold.now(),
  decided_at  timestamptz
);
create index change_newest on pack.change (tenant_id, at desc, change_id desc);
create unique index change_pending on pack.change (product_id, variant, kind) where state = 'pending';

create table pack.rule (
  rule_id    uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  name       text not null,
  condition  text not null check (condition in ('percent', 'absolute', 'target', 'back_in_stock', 'new_low')),
  value      numeric(20, 6),
  currency   char(3),
  direction  text not null default 'both' check (direction in ('both', 'down', 'up')),
  site_id    uuid references pack.site on delete cascade,
  product_id uuid references pack.product on delete cascade,
  tag        text,
  brand      text,
  paused     boolean not null default false,
  created_at timestamptz not null default leasehold.now(),
  check ((condition in ('percent', 'absolute', 'target')) = (value is not null)),
  check ((condition in ('absolute', 'target')) = (currency is not null))
);

create table pack.alert (
  rule_id   uuid not null references pack.rule on delete cascade,
  change_id uuid not null references pack.change on delete cascade,
  tenant_id uuid not null,
  at        timestamptz not null default leasehold.now(),
  primary key (rule_id, change_id)
);

create table pack.run (
  run_id      uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  site_id     uuid not null references pack.site on delete cascade,
  what        text not null check (what in ('crawl', 'baseline')),
  flow_id     uuid,
  planned     integer not null default 0,
  counts      jsonb,                   -- when it has ended: checks by result, changes by kind
  started_at  timestamptz not null default leasehold.now(),
  finished_at timestamptz
);
create index run_of_site on pack.run (site_id, started_at desc);

-- One row for each time that a page was asked for.
create table pack.visit (
  visit_id   uuid not null default gen_random_uuid(),
  at         timestamptz not null,
  tenant_id  uuid not null,
  site_id    uuid not null,
  product_id uuid not null,
  run_id     uuid,
  result     text not null check (result in
    ('first', 'changed', 'unchanged', 'doubtful', 'no_price', 'blocked', 'missing', 'gone', 'moved', 'error', 'late')),
  status     integer,
  ms         integer,
  problem    text,
  primary key (visit_id, at)
) partition by range (at);
create index visit_of_site on pack.visit (site_id, at);
create index visit_of_run on pack.visit (run_id) where run_id is not null;

-- Never deleted: what is left of history when its rows are gone.
create table pack.daily (
  offer_id  uuid not null,
  day       date not null,
  currency  char(3) not null,
  tenant_id uuid not null,
  low       numeric(20, 6) not null,
  high      numeric(20, 6) not null,
  opened    numeric(20, 6) not null,
  closed    numeric(20, 6) not null,
  changes   integer not null,
  primary key (offer_id, day, currency)
);

create table pack.monthly (
  offer_id  uuid not null,
  month     date not null,
  currency  char(3) not null,
  tenant_id uuid not null,
  low       numeric(20, 6) not null,
  high      numeric(20, 6) not null,
  average   numeric(20, 6) not null,   -- of the days' closing prices
  changes   integer not null,
  days      integer not null,
  primary key (offer_id, month, currency)
);

create table pack.observation_default partition of pack.observation default;
create table pack.visit_default partition of pack.visit default;

-- The partitions of this month and so many to come. Months begin at midnight UTC, so that none overlaps or leaves a gap.
-- A month that was late has rows in the default partition: they are moved.
create function pack.make_partitions(p_ahead integer default 3) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
declare
  v_month timestamptz;
  v_table text;
  v_name  text;
  v_made  integer := 0;
begin
  for v_table, v_month in
    select t, date_trunc('month', leasehold.now()) + make_interval(months => n)
    from unnest(array['observation', 'visit']) t, generate_series(0, least(greatest(p_ahead, 0), 24)) n
  loop
    v_name := v_table || to_char(v_month, '_YYYYMM');
    continue when to_regclass('pack.' || v_name) is not null;
    perform pg_advisory_xact_lock(hashtextextended('pack.make_partitions', 0));
    continue when to_regclass('pack.' || v_name) is not null;
    execute format('create table pack.%I (like pack.%I including all)', v_name, v_table);
    execute format(
      'with late as (delete from pack.%I where at >= %L and at < %L returning *) insert into pack.%I select * from late',
      v_table || '_default', v_month, v_month + interval '1 month', v_name);
    execute format(
      'alter table pack.%I attach partition pack.%I for values from (%L) to (%L)',
      v_table, v_name, v_month, v_month + interval '1 month');
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;
revoke all on function pack.make_partitions(integer) from public;
grant execute on function pack.make_partitions(integer) to leasehold_worker;
select pack.make_partitions();

-- Drop what is left of past months when no tenant has a row in it any more. Nobody's rows are ever touched.
create function pack.drop_empty_partitions() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '2s'
as $$
declare
  v_name    text;
  v_rows    boolean;
  v_dropped integer := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('pack.observation'::regclass, 'pack.visit'::regclass)
      and c.relname ~ '_\d{6}$'
      and right(c.relname, 6) < to_char(leasehold.now(), 'YYYYMM')
  loop
    execute format('lock table pack.%I in access exclusive mode', v_name);
    execute format('select exists (select from pack.%I)', v_name) into v_rows;
    if not v_rows then
      execute format('drop table pack.%I', v_name);
      v_dropped := v_dropped + 1;
    end if;
  end loop;
  return v_dropped;
exception when lock_not_available then
  return 0;  -- the next time
end
$$;
revoke all on function pack.drop_empty_partitions() from public;
grant execute on function pack.drop_empty_partitions() to leasehold_worker;

-- Put a product beside those of other sites that are the same thing: by GTIN, written with fourteen digits, else by the maker's
-- own number together with the brand.
create function pack.join_group(p_product uuid) returns uuid
language sql
set search_path = pg_catalog, pg_temp
as $$
  with known as (
    select product_id, tenant_id, name, case
      when gtin is not null then 'gtin:' || lpad(gtin, 14, '0')
      when mpn is not null and brand is not null then
        'mpn:' || lower(regexp_replace(brand, '\s', '', 'g')) || ':' || lower(regexp_replace(mpn, '[\s-]', '', 'g'))
    end as match
    from pack.product where product_id = p_product and group_id is null
  ),
  joined as (
    insert into pack.product_group as g (tenant_id, match, name)
    select tenant_id, match, name from known where match is not null
    on conflict (tenant_id, match) do update set name = coalesce(g.name, excluded.name)
    returning group_id
  )
  update pack.product p set group_id = j.group_id from joined j where p.product_id = p_product returning j.group_id
$$;
grant execute on function pack.join_group(uuid) to leasehold_worker, leasehold_api;
