import ArgumentParser
import HearthHome
import MatterController
import MatterModel
import MatterProtocol
import Runtime
import Synchronization

/// `hearth pair`.
struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair", abstract: "Commission a device into the home.",
    discussion: "CODE is the text of a QR code (MT:…) or a manual pairing code of 11 or 21 digits.")
  @OptionGroup var home: HomeOptions
  @Option(help: "The passcode, instead of a setup code.") var passcode: UInt32?
  @Option(help: "The discriminator of the device, 0 to 4095; requires --passcode.") var discriminator: UInt16?
  @Option(help: "The name of the device.") var name: String?
  @Option(help: "The room of the device; added if it does not exist.") var room: String?
  @Option(name: .customLong("node-id"), help: "The node id to assign.") var nodeID: UInt64?
  @Option(
    help: ArgumentHelp(
      "Also trust the attestation roots (PAA) and declaration signers in this folder: DER or PEM files.",
      valueName: "dir"), completion: .directory)
  var trust: String?
  @Flag(
    name: .customLong("allow-unverified"),
    help: "Continue if the attestation of the device fails, or if it is not the product that the code is for.")
  var allowsUnverified = false
  @Argument(help: "The setup code.") var code: String?

  func validate() throws {
    guard (code == nil) != (passcode == nil) else { throw ValidationError("expected either CODE or --passcode") }
    guard discriminator == nil || passcode != nil else { throw ValidationError("--discriminator requires --passcode") }
    guard discriminator ?? 0 <= 0xFFF else { throw ValidationError("--discriminator: expected 0 to 4095") }
  }

  func run() async throws {
    var request = try commissioning()
    request.nodeID = nodeID.map { NodeID($0) }
    if let address = try home.network.address {
      request.target = .addresses([address])
    } else if case .discriminator(let discriminator) = request.target {
      let addresses = try home.network.book().addresses(of: discriminator)
      if !addresses.isEmpty { request.target = .addresses(addresses) }
    }
    if home.network.mdns == .off, !request.hasAddress {
      throw HomeError(
        .badArguments,
        "--mdns off requires the address of the device; use --at, or its discriminator in the --address-book")
    }
    if let timeout = home.network.timeout {
      request.timeout = timeout.duration
      request.discoveryTime = min(request.discoveryTime, timeout.duration)
    }
    if allowsUnverified { request.attestationPolicy = .proceedAnyway }
    switch request.flow {
    case .standard: break
    case .userIntent:
      home.output.note("the code requires an action on the device first, such as pressing a button")
    case .custom:
      home.output.note(
        "the code requires vendor-specific setup steps first; see the vendor's instructions if the device is not found")
    }
    let steps = StepReporter(home.output)
    var options = try home.options()
    // --at is the address during commissioning. The operational address is the same, and known from it.
    options.timeout = max(options.timeout, .seconds(10))
    var trusted: TrustStore?
    if let trust {
      let store = try TrustStore(trust)
      for (file, reason) in store.unreadable { home.output.detail("  \(file): \(reason)") }
      home.output.progress("  trusting \(store.rootCount) roots, \(store.declarationSignerCount) declaration signers")
      trusted = store
    }
    if let name, try HomeNames.checked(name).wasCut { home.output.note(HomeNames.cutNote) }
    let (name, room, interfaces) = (name, room, home.network.named)
    let paired = try await home.withHome(options) { [request, trusted] session throws(HomeError) in
      let paired = try await session.pair(request, name: name, room: room, trust: trusted) { step, progress in
        steps.report(step, progress)
      }
      if !interfaces.isEmpty, try await session.settings.interfaces.isEmpty {
        try await session.change(.init(interfaces: interfaces))
      }
      return paired
    }
    if let failure = paired.result.attestationFailure {
      home.output.note("attestation failed: \(failure.explanation) (\(failure))")
    }
    if paired.isTestDeviceOnNetwork {
      home.output.note(
        "attestation: test; certificates that are signed with public test keys do not prove the vendor "
          + "(`hearth home trust production` refuses such devices)")
    }
    let information = paired.result.information
    let found = CommissioningRequest.Product(vendorID: information.vendorID, productID: information.productID)
    if let expected = request.product, expected != found {
      home.output.note("the code is for \(expected), but the device is \(found)")
    }
    home.output.result(json(paired, steps.finished), text(paired))
  }

  private func commissioning() throws -> CommissioningRequest {
    if let passcode {
      guard SetupPasscode.isValid(passcode) else {
        throw HomeError(.badArguments, "\(SetupCodeError.invalidPasscode(passcode))")
      }
      return CommissioningRequest(
        passcode: passcode, target: discriminator.map { .discriminator(.long($0)) } ?? .any)
    }
    do throws(SetupCodeError) {
      return CommissioningRequest(try SetupPayload(parsing: code ?? ""))
    } catch .severalCodes(let count) {
      let single = ((try? SetupPayload.parseAll(code ?? "")) ?? []).compactMap { try? $0.qrText }
      throw HomeError(
        .badArguments, "the code is for \(count) devices; pair them one by one: \(single.joined(separator: ", "))")
    } catch {
      throw HomeError(.badArguments, "\(error)", cause: error)
    }
  }

  private func json(_ paired: PairedDevice, _ steps: [(CommissioningStep, Duration)]) -> JSON {
    let result = paired.result
    return paired.device.jsonNames
      .adding("types", .texts(paired.device.typeNames))
      .adding("vendorName", .optional(paired.device.identity.vendorName))
      .adding("productName", .optional(paired.device.identity.productName))
      .adding("fabricIndex", .optional(result.fabricIndex?.rawValue))
      .adding("address", .string("\(result.address)"))
      .adding("attestation", .string(result.attestation.rawValue))
      .adding("attestationVerified", .bool(result.attestationFailure == nil))
      .adding("attestationFailure", .optional(result.attestationFailure?.description))
      .adding("milliseconds", .int(result.duration.milliseconds))
      .adding(
        "steps",
        .array(
          steps.map { ["step": .string($0.0.rawValue), "milliseconds": .number(StepReporter.milliseconds($0.1))] }))
  }

  private func text(_ paired: PairedDevice) -> String {
    let device = paired.device
    let types = device.typeNames.joined(separator: ", ")
    return "Paired \(device.fullName)\(types.isEmpty ? "" : " (\(types))") as node \(device.source.id) in "
      + TimeSpan.text(paired.result.duration)
  }
}

/// Prints each step of commissioning with its duration.
final class StepReporter: Sendable {
  private let output: Output
  private let steps = Mutex<[(CommissioningStep, Duration)]>([])

  var finished: [(CommissioningStep, Duration)] { steps.withLock { $0 } }

  init(_ output: Output) { self.output = output }

  func report(_ step: CommissioningStep, _ progress: StepProgress) {
    switch progress {
    case .started: output.detail("  \(step.rawValue) …")
    case .finished(let duration):
      steps.withLock { $0.append((step, duration)) }
      let name = step.rawValue + String(repeating: " ", count: max(0, 22 - step.rawValue.count))
      output.progress("  \(name) \(Self.milliseconds(duration)) ms")
    }
  }

  /// Returns the milliseconds with one decimal place.
  static func milliseconds(_ duration: Duration) -> Double { Double(duration.nanoseconds / 100_000) / 10 }
}

extension DeviceRecord {
  /// The names of the device types, without utility types such as Power Source unless the device has no other types.
  var typeNames: [String] {
    var seen: Set<DeviceTypeID> = []
    let types = applicationEndpoints.flatMap(\.deviceTypes).filter { seen.insert($0).inserted }
    let main = types.filter { !DeviceEndpoint.utilityTypes.contains($0) }
    return (main.isEmpty ? types : main).map { ElementNames.deviceType($0) }
  }
}

extension CommissioningRequest {
  fileprivate var hasAddress: Bool { if case .addresses = target { true } else { false } }
}
