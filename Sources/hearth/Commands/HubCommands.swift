import ArgumentParser
import Foundation
import Glibc
import HearthHome
import Hub
import Logging
import MatterModel
import MatterProtocol
import OpenMetrics

/// `hearth hub`.
struct HubCommands: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub", abstract: "Serve the home to other processes and manage their access.",
    discussion: """
      A hub keeps one connection to each device and serves any number of clients. Processes of the same user have full \
      access; other clients need an invitation with a role, such as guest (read) or member (read and control). For example, on \
      the machine of the home:
        hearth hub run --listen 192.168.1.10:5550
        hearth hub invite Ada --role member
      On another machine, with the invitation that the last command printed:
        hearth hub join 'hearth://join/?address=…'
        hearth devices
      """,
    subcommands: [Run.self, Status.self, Invite.self, Clients.self, Revoke.self, Join.self, Leave.self])

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "run", abstract: "Follow the devices and serve the home until interrupted.",
      discussion: """
        Listens on a socket in the state directory. While another process owns the home, such as `hearth watch`, the hub waits for it \
        to end. Commands that start after the hub use the home through it.
        """)
    @OptionGroup var home: OwnerOptions
    @Option(
      help: ArgumentHelp(
        "Also listen here: a TCP port (TLS), or a socket for other users of this machine; repeatable.",
        valueName: "host:port|socket"))
    var listen: [String] = []
    @Option(
      help: ArgumentHelp(
        "Also serve the WebSocket API of the Matter server of Home Assistant here; loopback only.",
        valueName: "[address:]port"))
    var websocket: String?
    @Option(
      help: ArgumentHelp(
        "The certificate for TLS, with its intermediate certificates (PEM). Default: one in the state directory, created at "
          + "the first start.",
        valueName: "file"), completion: .file())
    var certificate: String?
    @Option(
      help: ArgumentHelp("The private key of --certificate (PEM, without a passphrase).", valueName: "file"),
      completion: .file())
    var key: String?
    @Option(
      help: ArgumentHelp(
        "A folder with software images (.ota) that clients of --websocket can install.", valueName: "folder"),
      completion: .directory)
    var updates: String?
    @OptionGroup var metrics: MetricsOptions
    @Option(help: ArgumentHelp("A file to write when the hub listens.", valueName: "file"), completion: .file())
    var readyFile: String?

    func validate() throws {
      guard (certificate == nil) == (key == nil) else {
        throw ValidationError("--certificate and --key require each other")
      }
    }

    func run() async throws {
      var options = HubServer.Options(logger: home.global.logger)
      options.setLogLevel = { SharedLogLevel.process.set($0) }
      options.version = HearthVersion.text
      options.addresses = try listen.map { try Self.address($0) }
      options.loopback = try websocket.map { try Self.loopback($0) }
      try metrics.check()
      if let certificate, let key { options.certificate = .init(certificate: certificate, key: key) }
      let folder = try updates.map { try SoftwareFolder($0) }
      let stop = StopSignals()
      let signal = try await home.withHome { session in
        options.updates = folder?.updates(home, in: session)
        let hub = try await HubServer.open(session, options)
        let result = await Result {
          try await metrics.serving(home.output, { await hub.metrics.families }) {
            let status = await hub.status
            home.output.result(
              HubReport.json(status),
              "serving \(HubReport.count(status.devices, "device")) at \(status.addresses.joined(separator: " and "))")
            try NamedFile.writeReady(readyFile)
            return await stop.wait()
          }
        }
        await hub.close()
        return try result.get()
      }
      // SIGTERM from a service manager is success; SIGINT has its own exit code.
      if signal == SIGINT { throw ProcessExit.interrupted.error }
    }

    private static func loopback(_ text: String) throws(HomeError) -> HubServer.Loopback {
      let (host, port) = try HostAndPort.splitOptionalHost(text, example: "5580")
      return HubServer.Loopback(host: host, port: port)
    }

    private static func address(_ text: String) throws(HomeError) -> HubAddress {
      if text.contains("/") { return .socket(URL(filePath: text).standardizedFileURL.path) }
      let address = try HostAndPort.split(text, least: 0)
      return .host(address.host, port: Int(address.port))
    }
  }

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Show the state of the hub and its connected clients. Exit code 13 if no hub is running.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let status = try await HubReport.withHub(options) { try await $0.hubStatus }
      options.output.result(HubReport.json(status), HubReport.text(status, now: Home.now()))
    }
  }

  struct Clients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clients", abstract: "List the invited clients.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let clients = try await options.withHome { try await $0.invitedClients }
      var table = Table("NAME", "ROLE", "INVITED")
      for client in clients {
        table.add(
          client.name, client.role.rawValue, ClockText.iso(milliseconds: client.created.saturatingMultiply(1000)))
      }
      if clients.isEmpty { options.output.progress("no invited clients; invite one with `hearth hub invite NAME`") }
      options.output.result(.array(clients.map { HubReport.json($0) }), clients.isEmpty ? "" : table.text)
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "Revoke an invitation and disconnect its client.",
      discussion: """
        Also revokes its certificate: devices that can be reached refuse it at once, other devices when they can be reached again. \
        The remaining clients of its role get new certificates.
        """)
    @OptionGroup var home: HomeOptions
    @Argument(help: "The client.") var name: String

    func run() async throws {
      let (client, pending) = try await home.withHome { try await $0.revoke(name) }
      home.output.result(
        HubReport.json(client).adding("pendingDevices", .texts(pending)),
        "revoked \(client.name)"
          + (pending.isEmpty
            ? "" : "; these devices accept its certificate until they are reached: \(pending.joined(separator: ", "))"))
    }
  }
}

/// Formats the state of a hub as text and JSON.
enum HubReport {
  /// Opens the home as its owner through the hub of the state directory, and closes it after the body.
  static func withHub<R>(_ options: GlobalOptions, _ body: (Home) async throws -> R) async throws -> R {
    try await options.output.reportingWaits {
      if let joined = try HubOptions.joined(options) { return try await Home(through: joined).beforeClosing(body) }
      let state = try options.stateDirectory
      var own = try HubOptions.client([.local(.socket(state.hubSocket))], options)
      own.token = nil
      // Like the commands that use the home.
      own.timeout = own.connectTimeout
      do { return try await Home(through: own).beforeClosing(body) } catch let error as HomeError {
        // The socket of an owner may have been removed; then no other hub could start.
        let isHeld = error.code == .timedOut || error.code == .notRunning && OwnerLock.isHeld(state)
        throw isHeld ? OwnerLock.held(state) : error
      }
    }
  }

  static func json(_ client: InvitedClient) -> JSON {
    [
      "name": .string(client.name), "role": .string(client.role.rawValue),
      "created": created(client),
    ]
  }

  static func json(_ status: HubStatus) -> JSON {
    [
      "process": .int(status.process), "follower": .bool(status.isFollowing),
      "since": .string(ClockText.iso(milliseconds: status.since / 1000)), "devices": .int(status.devices),
      "devicesOnline": .int(status.devicesOnline), "addresses": .texts(status.addresses),
      "clients": .array(
        status.clients.map {
          [
            "name": .string($0.name), "role": .string($0.role.rawValue), "address": .string($0.address),
            "since": .string(ClockText.iso(milliseconds: $0.since / 1000)),
          ]
        }),
      "fingerprint": .optional(status.fingerprint),
      "drops": VirtualDeviceReport.json(status.drops.sorted { $0.key < $1.key }),
      "missingAccess": .texts(status.missingAccess ?? []),
    ]
  }

  static func text(_ status: HubStatus, now: Int64) -> String {
    var lines = [
      "process \(status.process), started \(TimeSpan.ago(milliseconds: max(0, now - status.since / 1000)))"
        + (status.isFollowing ? "" : "; does not follow the devices"),
      "\(count(status.devices, "device")), \(status.devicesOnline) online",
    ]
    lines += status.addresses.map { "listening on \($0)" }
    if let fingerprint = status.fingerprint { lines.append("certificate \(fingerprint)") }
    if !status.drops.isEmpty {
      let drops = status.drops.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      lines.append("dropped messages: \(drops.joined(separator: ", "))")
    }
    if let names = status.missingAccess, !names.isEmpty {
      lines.append("no current access entry for invited clients: \(names.joined(separator: ", "))")
    }
    var table = Table("CLIENT", "ROLE", "FROM", "SINCE")
    for client in status.clients {
      table.add(
        client.name, client.role.rawValue, client.address, ClockText.time(milliseconds: client.since / 1000))
    }
    return (lines + (status.clients.isEmpty ? [] : ["", table.text])).joined(separator: "\n")
  }

  static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
