import ArgumentParser
import Foundation
import HearthHome
import Hub
import Runtime
import VirtualDevices

/// `hearth doctor`.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check this host and suggest a fix for each problem.",
    discussion: """
      Checks the network interfaces, multicast, Avahi, open files, the clock, the state directory, the home and the ports. \
      Changes nothing. Sends one datagram on each interface, and connects to the hub if one was joined. \
      Exit code 11 if there is a problem.
      """)
  @OptionGroup var options: GlobalOptions
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Check these interfaces: names, or 'all'. Default: loopback only.", valueName: "name"))
  var interface: [String] = []

  func run() async throws {
    let state = try options.stateDirectory
    let selection = InterfaceSelection(names: interface)
    let checks =
      HostDiagnosis.interfaces(selection) + HostDiagnosis.multicast(selection) + [
        HostDiagnosis.avahi(selection), HostDiagnosis.descriptors(),
        HostDiagnosis.clock(executable: Bundle.main.executablePath ?? CommandLine.arguments[0]),
        HostDiagnosis.directory(state.root), await home(state), HostDiagnosis.ports(selection), Self.running(state),
      ]
    var table = Table("CHECK", "RESULT", "FINDING", "ADVICE")
    table.wrappedColumns = ["FINDING", "ADVICE"]
    for check in checks { table.add(check.subject, check.level.rawValue, check.finding, check.advice ?? "") }
    let problems = checks.count { $0.level == .problem }
    let data: JSON = ["problems": .int(problems), "checks": .array(checks.map(Self.json))]
    guard problems > 0 else { return options.output.result(data, table.text) }
    let error = HomeError(.expectationFailed, problems == 1 ? "1 problem found" : "\(problems) problems found")
    guard options.json else {
      options.output.text(table.text)
      throw error
    }
    options.output.text((["ok": false, "error": Output.object(error), "data": data] as JSON).description)
    throw ProcessExit(error.code).error
  }

  /// Checks that the home's database, if any, can be opened, and that its log is not damaged. A directory that has joined a
  /// hub has no database: the hub is asked.
  private func home(_ state: StateDirectory) async -> HostCheck {
    let path = state.database
    do throws(HomeError) {
      if try HomeDatabase.check(path) { return HostCheck("home", .ok, path) }
      guard let joined = try HubInvitation.stored(in: state) else { return HostCheck("home", .ok, "no home yet") }
      let hub = joined.addresses.map { "\($0)" }.joined(separator: " or ")
      let finding = "the one of the hub at \(hub), joined as \(joined.name)"
      guard let error = await connectionError() else { return HostCheck("home", .ok, finding) }
      let advice =
        error.code == .accessDenied
        ? "ask the home's owner for a new invitation, and join again"
        : "check that the hub runs, and that this host reaches its address"
      return HostCheck("home", .problem, "\(finding): \(error.message)", advice: advice)
    } catch {
      return HostCheck("home", .problem, error.message)
    }
  }

  /// Connects to the joined hub once, without own sessions with the devices.
  private func connectionError() async -> HomeError? {
    do {
      guard var client = try HubOptions.joined(options) else { return nil }
      client.direct = nil
      client.timeout = client.connectTimeout
      try await Home(through: client).beforeClosing { _ in }
      return nil
    } catch { return HomeError(error) }
  }

  /// Reports the virtual devices that run with this state directory.
  private static func running(_ state: StateDirectory) -> HostCheck {
    let fleets = FleetStatus.running(in: state.run)
    let devices = fleets.reduce(0) { $0 + $1.devices.count }
    return HostCheck(
      "running", .ok, fleets.isEmpty ? "no virtual devices" : "virtual devices: \(devices), processes: \(fleets.count)")
  }

  private static func json(_ check: HostCheck) -> JSON {
    [
      "check": .string(check.subject), "result": .string(check.level.rawValue), "finding": .string(check.finding),
      "advice": .optional(check.advice),
    ]
  }
}
