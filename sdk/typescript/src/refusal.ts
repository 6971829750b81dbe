/** Why there is nothing here for a page. */
export const SERVERS_ONLY =
  "@leasehold/sdk runs on servers only: in a web page its API key would be everybody's. " +
  "Let your server ask for the job, get a ticket with POST /v1/tickets and hand the page the address of the stream.";
