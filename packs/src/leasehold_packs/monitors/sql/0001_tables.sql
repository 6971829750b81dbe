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
  condition  text not null
    check (condition in ('percent', 'absolute', 'target', 'back_in_stock', 'new_low', 'undercut')),
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
  check ((condition in ('absolute', 'target')) = (currency is not null)),
  -- One that tells when somebody sells a thing for less: its scope says which products are one's own.
  constraint rule_undercut_check
    check (condition <> 'undercut' or num_nonnulls(site_id, product_id, tag, brand) > 0)
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

create table pack.observation_default partition of pack.observation default;

create table pack.visit_default partition of pack.visit default;

-- Finding products: a search looks at pages, what looks like a product becomes a candidate, and a person decides.

create table pack.search (
  search_id   uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  site_id     uuid not null references pack.site on delete cascade,
  options     jsonb not null,
  flow_id     uuid,
  counts      jsonb,                   -- when it has ended: pages by what they were
  created_at  timestamptz not null default leasehold.now(),
  finished_at timestamptz
);

create index search_of_site on pack.search (site_id, created_at desc);

-- One row for each page that a search has heard of. Whoever inserts it looks at it.
create table pack.page (
  search_id uuid not null references pack.search on delete cascade,
  key       bytea not null,
  tenant_id uuid not null,
  url       text not null,
  depth     integer not null,
  state     text not null default 'queued' check (state in ('queued', 'product', 'other', 'failed', 'blocked', 'left')),
  primary key (search_id, key)
);

create table pack.candidate (
  candidate_id uuid primary key default gen_random_uuid(),
  tenant_id    uuid not null,
  site_id      uuid not null references pack.site on delete cascade,
  key          bytea not null,
  url          text not null,
  guess        jsonb not null,         -- name, price, image, and how they were read
  confidence   real not null,
  state        text not null default 'proposed' check (state in ('proposed', 'approved', 'rejected')),
  decided_by   text,
  decided_at   timestamptz,
  created_at   timestamptz not null default leasehold.now(),
  unique (site_id, key)
);

create index candidate_proposed on pack.candidate (site_id, confidence desc) where state = 'proposed';

-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('monitors.sites', 200),
  ('monitors.products', 50000),
  ('monitors.rules', 1000)
on conflict do nothing;

create trigger quota after insert on pack.site referencing new table as made
  for each statement execute function leasehold.enforce_quota('monitors.sites');

create trigger quota after insert on pack.product referencing new table as made
  for each statement execute function leasehold.enforce_quota('monitors.products');

create trigger quota after insert on pack.rule referencing new table as made
  for each statement execute function leasehold.enforce_quota('monitors.rules');
