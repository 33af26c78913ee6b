import ArgumentParser
import Foundation
import HearthHome
import Hub
import MatterProtocol
import Runtime

extension HubCommands {
  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invite",
      abstract: "Invite a client and print its invitation, which is not stored and not shown again.",
      discussion: """
        The client joins with `hearth hub join`. The invitation contains a token, which grants the role until the invitation is \
        revoked: send it over a channel that others can't read.
        """)
    @OptionGroup var options: GlobalOptions
    @Option(help: "The role: guest (read), member (read and control) or owner (full access).")
    var role: HomeRole = .guest
    @Option(
      help: ArgumentHelp(
        "An address of the hub for the client, nearest first; repeatable. Default: those where the hub listens for other "
          + "machines; in a directory that has joined the hub, those of its own invitation.",
        discussion: "HOST:PORT, or the wss URL of a reverse proxy.", valueName: "address"))
    var address: [String] = []
    @Argument(help: "The name of the client.") var name: String

    func run() async throws {
      let state = try options.stateDirectory
      let (client, invitation) = try await options.withHome { home in
        let status = try await home.hubStatus
        let addresses = try addresses(status, state)
        let fingerprint = try fingerprint(status, state)
        let (client, token) = try await home.invite(name, role)
        return (
          client,
          HubInvitation(
            addresses: addresses, token: token, fingerprint: fingerprint, home: status.home, name: client.name,
            role: client.role)
        )
      }
      let wasCut = try HomeNames.checked(name).wasCut
      if wasCut { options.output.note(HomeNames.cutNote) }
      options.output.result(
        HubReport.json(invitation).adding("created", HubReport.created(client)).adding(
          "token", .string(invitation.token)
        ).adding("invitation", .string("\(invitation)")).adding("wasCut", .bool(wasCut)),
        "\(invitation)")
      options.output.progress(
        "invited \(client.name) as \(client.role.rawValue); the client runs `hearth hub join '…'` with this invitation")
    }

    private func addresses(_ status: HubStatus, _ state: StateDirectory) throws(HomeError) -> [HubAddress] {
      var addresses: [HubAddress] = []
      for text in address {
        let address = try HubAddress(text)
        guard !address.isSocket else {
          throw HomeError(
            .badArguments, "“\(text)” is a socket, which an invitation can't contain; use HOST:PORT or a wss URL")
        }
        addresses.append(address)
      }
      if !addresses.isEmpty { return addresses }
      // The interfaces of the hub's machine are not those of this one.
      if let joined = try HubInvitation.stored(in: state) { return joined.addresses }
      for text in status.addresses {
        // Addresses of other programs, such as ws://localhost:5580/ws, are not for invited clients.
        guard let address = try? HubAddress(text), !address.isSocket else { continue }
        addresses += Self.reachable(address)
      }
      guard !addresses.isEmpty else {
        throw HomeError(
          .notRunning,
          "no hub of this home listens for other machines; start one with `hearth hub run --listen HOST:PORT`, or use "
            + "--address")
      }
      return addresses
    }

    /// Returns the fingerprint of the running hub, of the one that this state directory has joined, or of the next one.
    private func fingerprint(_ status: HubStatus, _ state: StateDirectory) throws(HomeError) -> CertificateFingerprint {
      if let text = status.fingerprint { return try CertificateFingerprint(text) }
      if let joined = try HubInvitation.stored(in: state)?.fingerprint { return joined }
      return try HubIdentity(state).fingerprint
    }

    /// Replaces the address of all interfaces by those of each interface except loopback.
    private static func reachable(_ address: HubAddress) -> [HubAddress] {
      guard case .host(let host, let port) = address, ["0.0.0.0", "::"].contains(host) else { return [address] }
      let interfaces = ((try? NetworkInterfaces.all()) ?? []).filter { $0.isUp && !$0.isLoopback }
      let all = interfaces.flatMap(\.addresses).map { "\($0.ip)" }.filter { !$0.lowercased().hasPrefix("fe80:") }
      return all.filter { host == "::" || !$0.contains(":") }.map { .host($0, port: port) }
    }
  }

  struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "join", abstract: "Join a hub with an invitation.",
      discussion: """
        Connects once, and stores the invitation in the state directory. Later commands with this state directory use the home \
        through the hub without further options. The hub also issues a certificate, with which commands read and control \
        devices directly, also while the hub can't be reached.
        """)
    @OptionGroup var options: GlobalOptions
    @Option(
      help: ArgumentHelp(
        "The certificate authorities of wss URLs (PEM). Default: those of the system.", valueName: "file"),
      completion: .file())
    var caFile: String?
    @Option(
      parsing: .upToNextOption,
      help: ArgumentHelp(
        "The network interfaces on which the devices are: names, or 'all' for the local network.",
        discussion: "Default: HEARTH_INTERFACE (names separated by blanks or commas), otherwise loopback only.",
        valueName: "name"))
    var interface: [String] = []
    @Argument(help: "The text that `hearth hub invite` printed, in quotes.") var invitation: String

    func run() async throws {
      let interfaces = try NetworkOptions.existing(NetworkOptions.named(interface))
      let state = try options.stateDirectory
      var invitation = try HubInvitation(invitation)
      guard !FileManager.default.fileExists(atPath: state.database) else {
        throw HomeError(.badArguments, "\(state.root) has a home of its own; choose another --state")
      }
      if let other = try HubInvitation.stored(in: state), other.home != invitation.home {
        throw HomeError(.badArguments, "\(state.root) has joined another home; run `hearth hub leave` first")
      }
      let (client, identity) = (
        HubClient.Options(invitation, authorities: caFile, logger: options.logger), invitation.home
      )
      let (devices, role, membership) = try await options.output.reportingWaits {
        try await Home(through: client).beforeClosing { home in
          let devices = try await home.devices().list().count
          let membership = await requestMembership(from: home, of: identity, interfaces)
          return (devices, await home.role, membership)
        }
      }
      // That of the invitation may be wrong.
      if let role { invitation.role = role }
      try invitation.store(in: state, authorities: caFile, membership: membership)
      options.output.result(
        HubReport.json(invitation).adding("devices", .int(devices)).adding(
          "directDevices", .int(membership?.credentials.nodes.count ?? 0)),
        "joined as \(invitation.name) (\(invitation.role.rawValue)); the home has \(HubReport.count(devices, "device"))"
      )
    }

    /// Requests a certificate; without one, all commands use the hub.
    private func requestMembership(
      from home: Home, of identity: String, _ interfaces: [String]
    ) async -> ClientMembership? {
      do throws(HomeError) {
        return try await ClientMembership.requested(from: home.backend, of: identity, interfaces: interfaces)
      } catch {
        options.output.progress("no direct access to devices, the hub is used for all commands: \(error.message)")
        return nil
      }
    }
  }

  struct Leave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "leave", abstract: "Forget the hub that was joined.",
      discussion: "The invitation remains valid until `hearth hub revoke` on the machine of the hub.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let state = try options.stateDirectory
      guard HubInvitation.isStored(in: state) else {
        throw HomeError(.notFound, "\(state.root) has not joined a hub")
      }
      let left = try? HubInvitation.stored(in: state)
      try HubInvitation.remove(from: state)
      options.output.result(["name": .optional(left?.name), "home": .optional(left?.home)], "left the hub")
    }
  }
}

extension HubReport {
  static func json(_ invitation: HubInvitation) -> JSON {
    [
      "name": .string(invitation.name), "role": .string(invitation.role.rawValue),
      "addresses": .array(invitation.addresses.map { .string("\($0)") }),
      "fingerprint": .optional(invitation.fingerprint.map { "\($0)" }),
      "home": .string(invitation.home),
    ]
  }

  static func created(_ client: InvitedClient) -> JSON {
    .string(ClockText.iso(milliseconds: client.created.saturatingMultiply(1000)))
  }
}
