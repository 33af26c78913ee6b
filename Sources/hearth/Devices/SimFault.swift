import ArgumentParser
import HearthHome
import VirtualDevices

/// `hearth sim fault`.
struct SimFault: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fault", abstract: "Inject faults into a device, or remove them.",
    discussion: """
      Faults last until --heal, or until the devices are stopped. Each call replaces the previous faults, also those of the \
      definition file (`faults:`). Without options, prints the current faults. A bridged device has only --data; the others are \
      those of its bridge. For example:
        hearth sim fault Kitchen/Lamp --slow 3s
        hearth sim fault Kitchen/Lamp --data levelControl.currentLevel=type --data onOff.onOff=missing
        hearth sim fault Kitchen/Lamp --full scenes --full groups
        hearth sim fault Kitchen/Lamp --heal
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String
  @Flag(help: "Answer requests and handshakes with BUSY.") var busy = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The time between a request and its execution.", valueName: "time"))
  var slow: String?
  @Flag(help: "Send no reports after the first one of a subscription.") var silent = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Drop all sessions without notifying the peers, now and at this interval.", valueName: "time"))
  var dropSessions: String?
  @Flag(help: "Require a full handshake instead of resuming sessions.") var refuseResumption = false
  @Option(
    help: ArgumentHelp("The flaw of the attestation: signature, expiry, vendor or root.", valueName: "flaw"))
  var attestation: String?
  @Option(
    help: ArgumentHelp(
      "A table that accepts no further entries, or all.",
      discussion: "fabrics, accessControl, groups, groupKeys, scenes, bindings or subscriptions", valueName: "table"))
  var full: [String] = []
  @Option(
    help: ArgumentHelp(
      "The failure of software updates.",
      discussion: "busy, unavailable, refused, delayed, interrupted, digest or rollback", valueName: "failure"))
  var update: String?
  @Option(
    help: ArgumentHelp(
      "An attribute that violates the data model: missing, null, unknown, cut or type.",
      valueName: "attribute=violation"))
  var data: [String] = []
  @Flag(help: "Remove all faults.") var heal = false

  func validate() throws {
    let hasFaults = try faultsOfNode() != DeviceFaults() || !data.isEmpty
    if heal, hasFaults { throw ValidationError("--heal can't be combined with faults") }
  }

  /// The faults without those of attributes, which may be of clusters that are loaded only after the validation.
  private func faultsOfNode() throws -> DeviceFaults {
    var faults = DeviceFaults()
    var texts: [(FaultReading.Key, option: String, text: String)] = []
    if busy { texts.append((.busy, "--busy", "true")) }
    if let slow { texts.append((.slow, "--slow", slow)) }
    if silent { texts.append((.silent, "--silent", "true")) }
    if let dropSessions { texts.append((.dropSessions, "--drop-sessions", dropSessions)) }
    if refuseResumption { texts.append((.refuseResumption, "--refuse-resumption", "true")) }
    if let attestation { texts.append((.attestation, "--attestation", attestation)) }
    if let update { texts.append((.update, "--update", update)) }
    texts += full.map { (.full, "--full", $0) }
    for (key, option, text) in texts {
      if let expected = FaultReading.set(key, to: text, in: &faults) {
        throw ValidationError("\(option): found “\(text)”, expected \(expected)")
      }
    }
    return faults
  }

  private func faults() throws -> DeviceFaults {
    var faults = try faultsOfNode()
    for text in data {
      let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else {
        throw HomeError(
          .badArguments, "--data: found “\(text)”, expected ATTRIBUTE=VIOLATION, such as onOff.onOff=null")
      }
      let mark = SourceMark(file: "--data", line: 1, column: 1)
      do throws(DefinitionError) {
        let fault = try FaultReading.read(parts[0], at: mark, parts[1], at: mark)
        guard !faults.data.contains(where: { $0.isSameAttribute(as: fault) }) else {
          throw DefinitionError(at: mark, found: "attribute \(fault.name) again", expected: "each attribute once")
        }
        faults.data.append(fault)
      } catch {
        throw HomeError(
          .badArguments,
          error.problems.map { "\($0)".replacing("\($0.mark): ", with: "--data: ") }.joined(separator: "\n"))
      }
    }
    return faults
  }

  func run() async throws {
    let faults = try faults()
    try await options.withDevices { running in
      let entry = try running.resolve(device)
      let isChange = heal || faults != DeviceFaults()
      if isChange { try await running.send(.faults(device: entry.path, faults), to: entry) }
      let fleet = try await running.send(.status, to: entry).fleet
      let node = fleet?.devices.first { $0.path == entry.node.path }
      let present = entry.path == node?.path ? node?.faults : node?.bridged.first { $0.path == entry.path }?.faults
      options.output.result(
        ["device": .string(entry.path), "faults": .texts(present ?? [])],
        isChange ? "" : present.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") } ?? "no faults")
    }
  }
}
