-- A key of the installation is the operator's, or reads the metrics and nothing else: a scraper needs no more.
alter table leasehold.api_key drop constraint api_key_check;
alter table leasehold.api_key add constraint api_key_check check ((tenant_id is null) = (scopes && array['operator', 'metrics']));
