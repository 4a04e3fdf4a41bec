// A Node service that asks itself once. It knows nothing of Sluice.
const http = require("http");

const server = http.createServer((_request, response) => response.end());
server.listen(0, "127.0.0.1", () => http.get({ host: "127.0.0.1", port: server.address().port }, (response) => response.resume()));
// OpenTelemetry's handler of this signal does not end the process.
process.on("SIGTERM", () => server.close());
