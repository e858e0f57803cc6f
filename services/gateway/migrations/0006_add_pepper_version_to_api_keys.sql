-- The server's pepper can be changed: a key says under which version of it its hash was made, and is hashed anew, under the current one,
-- when it is used. Sessions say nothing: they end within hours, and until then are looked up under every pepper that is configured.
alter table api_keys add column pepper_version integer not null default 1
constraint api_keys_pepper_version_is_positive check (pepper_version > 0);
