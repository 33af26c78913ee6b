import ArgumentParser
import HearthHome
import MatterCrypto
import MatterModel
import MatterTLV

/// `hearth code`: setup codes.
struct Code: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "code", abstract: "Decode and create setup codes.", subcommands: [Show.self, Make.self])

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Decode a setup code.",
      discussion: "CODE is the text of a QR code (MT:…) or a manual pairing code of 11 or 21 digits.")
    @OptionGroup var options: GlobalOptions
    @Flag(name: .customLong("no-qr"), help: "Don't draw the QR code.") var hidesPicture = false
    @Argument(help: "The setup code.") var code: String

    func run() throws {
      let payloads: [SetupPayload]
      do throws(SetupCodeError) {
        payloads = try SetupPayload.parseAll(code, allowingInvalidValues: true)
      } catch {
        throw HomeError(.badArguments, "\(error)", cause: error)
      }
      let reports = payloads.map { SetupCodeReport($0) }
      options.output.result(
        reports.count == 1 ? reports[0].json : .array(reports.map(\.json)),
        reports.map { $0.text(picture: !hidesPicture) }.joined(separator: "\n\n"))
    }
  }

  struct Make: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "make", abstract: "Create a setup code.",
      discussion: "The passcode and the discriminator are random unless given.")
    @OptionGroup var options: GlobalOptions
    @Option(help: "The passcode: 1 to 99999998, without trivial ones such as 12345678.") var passcode: UInt32?
    @Option(help: "The discriminator: 0 to 4095.") var discriminator: UInt16?
    @Option(help: ArgumentHelp("The vendor id, such as 0xFFF1.", valueName: "number")) var vendor: WireNumber?
    @Option(help: ArgumentHelp("The product id, such as 0x8000.", valueName: "number")) var product: WireNumber?
    @Option(help: "The commissioning flow: standard, userIntent or custom.") var flow: FlowArgument = .standard
    @Option(
      name: .customLong("found-by"),
      help: ArgumentHelp(
        """
        A discovery capability: onNetwork, bluetooth, softAccessPoint, wiFiPublicActionFrame or nearField; repeatable.
        """, valueName: "means"))
    var discovery: [DiscoveryArgument] = [.onNetwork]
    @Option(help: "A serial number, in the QR code only.") var serial: String?
    @Option(
      help: ArgumentHelp(
        "A vendor-specific element of the QR code: a tag of 128 to 255 with a number or a text; repeatable.",
        valueName: "tag=value"))
    var extra: [ExtraArgument] = []
    @Flag(name: .customLong("no-qr"), help: "Don't draw the QR code.") var hidesPicture = false

    func run() throws {
      var random = SystemRandomSource()
      var drawn = passcode
      while drawn == nil {
        let candidate = UInt32(truncatingIfNeeded: random.next() & 0x7FF_FFFF)
        if SetupPasscode.isValid(candidate) { drawn = candidate }
      }
      var members = extra.map(\.member)
      if let serial { members.append(.init(tag: SetupPayload.ExtraMember.serialNumberTag, value: .string(serial))) }
      guard Set(members.map(\.tag)).count == members.count else {
        throw HomeError(.badArguments, "--extra: a tag can be given only once")
      }
      let payload = SetupPayload(
        vendorID: vendor?.value ?? 0, productID: product?.value ?? 0, flow: flow.flow,
        discovery: DiscoveryCapabilities(discovery.map(\.capability)),
        discriminator: .long(discriminator ?? UInt16(truncatingIfNeeded: random.next() & 0xFFF)), passcode: drawn ?? 0,
        additionalData: SetupPayload.additionalData(members))
      do throws(SetupCodeError) {
        _ = try payload.qrText
      } catch {
        throw HomeError(.badArguments, "\(error)", cause: error)
      }
      let report = SetupCodeReport(payload)
      options.output.result(report.json, report.text(picture: !hidesPicture))
    }
  }
}

/// A commissioning flow as a command line argument.
enum FlowArgument: String, ExpressibleByArgument, CaseIterable {
  case standard, userIntent, custom

  var flow: CommissioningFlow {
    switch self {
    case .standard: .standard
    case .userIntent: .userIntent
    case .custom: .custom
    }
  }
}

/// A discovery capability as a command line argument.
enum DiscoveryArgument: String, ExpressibleByArgument, CaseIterable {
  case softAccessPoint, bluetooth, onNetwork, wiFiPublicActionFrame, nearField

  var capability: DiscoveryCapabilities {
    switch self {
    case .softAccessPoint: .softAccessPoint
    case .bluetooth: .bluetooth
    case .onNetwork: .onNetwork
    case .wiFiPublicActionFrame: .wiFiPublicActionFrame
    case .nearField: .nearField
    }
  }
}

/// A vendor-specific element of a QR code: `130=text`, `131=12`.
struct ExtraArgument: ExpressibleByArgument {
  var member: SetupPayload.ExtraMember

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let tag = WireNumber(argument: String(parts[0]))?.value, (128...255).contains(tag) else {
      return nil
    }
    let text = String(parts[1])
    member = .init(tag: UInt8(truncatingIfNeeded: tag), value: UInt64(text).map { .unsigned($0) } ?? .string(text))
  }
}

/// A 16-bit number: decimal, or hexadecimal with the prefix 0x.
struct WireNumber: ExpressibleByArgument {
  var value: UInt16

  init?(argument: String) {
    guard let value = UInt16(numeral: argument) else { return nil }
    self.value = value
  }
}

/// Formats a setup code as text and JSON.
struct SetupCodeReport {
  let payload: SetupPayload
  /// Nil if the payload has no QR code representation; the same applies to `manualCode`.
  let qrText: String?
  let manualCode: String?
  /// Why the specification forbids the code; nil if it is valid.
  let problem: String?

  init(_ payload: SetupPayload) {
    self.payload = payload
    qrText = try? payload.qrText
    manualCode = try? payload.formattedManualCode
    do throws(SetupCodeError) {
      try payload.validate()
      problem = nil
    } catch {
      problem = "\(error)"
    }
  }

  var json: JSON {
    var object: JSON = [
      "version": .int(payload.version), "passcode": .int(payload.passcode),
      "discriminator": .optional(payload.discriminator.longValue),
      "shortDiscriminator": .int(payload.discriminator.shortValue), "vendorID": .int(payload.vendorID),
      "productID": .int(payload.productID), "flow": .string("\(payload.flow)"),
      "discovery": payload.discovery.map { .array(Self.names(of: $0).map { .string($0.key) }) } ?? .null,
      "qrCode": .optional(qrText), "manualCode": .optional(manualCode), "valid": .bool(problem == nil),
    ]
    let extra = payload.extraMembers
    if !extra.isEmpty {
      object = object.adding("serialNumber", .optional(payload.serialNumber)).adding(
        "extra",
        .array(extra.map { ["tag": .int($0.tag), "name": .optional($0.name), "value": Self.json($0.value)] }))
    }
    if let problem { object = object.adding("problem", .string(problem)) }
    return object
  }

  func text(picture: Bool) -> String {
    var rows: [(String, String)] = []
    if let manualCode { rows.append(("Manual code", manualCode)) }
    if let qrText { rows.append(("QR code", qrText)) }
    rows.append(("Passcode", Self.padded(payload.passcode)))
    switch payload.discriminator {
    case .long(let value): rows.append(("Discriminator", "\(value) (0x\(value.hexadecimal()))"))
    case .short(let value): rows.append(("Discriminator", "\(value), the upper 4 bits only"))
    }
    if payload.vendorID != 0 || payload.productID != 0 {
      rows.append(("Vendor", VendorID(payload.vendorID).description))
      rows.append(("Product", VendorID(payload.productID).description))
    }
    rows.append(("Flow", Self.words(for: payload.flow)))
    if let discovery = payload.discovery {
      let names = Self.names(of: discovery).map(\.value)
      rows.append(("Discovery", names.isEmpty ? "none" : names.joined(separator: ", ")))
    }
    for member in payload.extraMembers {
      let name = member.name ?? (member.isMakers ? "vendor tag \(member.tag)" : "tag \(member.tag)")
      rows.append((name.prefix(1).uppercased() + name.dropFirst(), Self.text(member.value)))
    }
    if let problem { rows.append(("Invalid", problem)) }
    let width = max(15, (rows.map(\.0.count).max() ?? 0) + 1)
    var lines = rows.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 }
    if picture, let qrText, let code = try? QRCode(text: qrText) { lines += [""] + code.lines }
    return lines.joined(separator: "\n")
  }

  private static func json(_ value: TLVElement.Value) -> JSON {
    switch value {
    case .string(let text): .string(text)
    case .unsigned(let number): number <= UInt64(Int64.max) ? .int(number) : .string("\(number)")
    case .signed(let number): .int(number)
    case .boolean(let flag): .bool(flag)
    default: .string(text(value))
    }
  }

  private static func text(_ value: TLVElement.Value) -> String {
    switch value {
    case .string(let text): text
    case .unsigned(let number): "\(number)"
    case .signed(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .octets(let bytes): bytes.hexadecimal.lowercased()
    default: "\(value)"
    }
  }

  private static func padded(_ passcode: UInt32) -> String {
    let digits = "\(passcode)"
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  private static func words(for flow: CommissioningFlow) -> String {
    switch flow {
    case .standard: "standard (power on the device)"
    case .userIntent: "user intent (act on the device, such as pressing a button)"
    case .custom: "custom (follow the vendor's instructions)"
    }
  }

  private static func names(of discovery: DiscoveryCapabilities) -> [(key: String, value: String)] {
    let all: [(DiscoveryCapabilities, String, String)] = [
      (.softAccessPoint, "softAccessPoint", "Wi-Fi access point of the device"), (.bluetooth, "bluetooth", "Bluetooth"),
      (.onNetwork, "onNetwork", "IP network"),
      (.wiFiPublicActionFrame, "wiFiPublicActionFrame", "Wi-Fi public action frames"),
      (.nearField, "nearField", "near-field communication"),
    ]
    return all.filter { discovery.contains($0.0) }.map { ($0.1, $0.2) }
  }
}
