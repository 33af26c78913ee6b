import Foundation
import MatterCertificates
import MatterCrypto
import MatterModel
import MatterProtocol
import MatterTLV
import VirtualDevices

/// Initial inputs of the targets: small, valid, one of each kind.
enum Samples {
  @Sendable static func tlv() -> [[UInt8]] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(UInt64(300), .context(0))
      $0.write(Int64(-70_000), .context(1))
      $0.write(true, .context(2))
      $0.write(Float(17.9), .context(3))
      $0.write("Hearth", .context(4))
      $0.write(octets: [1, 2, 3], .context(5))
      $0.array(.context(6)) { for number in 0..<4 { $0.write(UInt64(number)) } }
      $0.list(.context(7)) { $0.writeNull(.context(1)) }
    }
    return [writer.finish(), [0x15, 0x18], [0x14], [0x0B, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]]
      + interactions().map { Array($0.dropFirst()) }
  }

  static let checkInKey = [UInt8](repeating: 1, count: CheckInMessage.keyByteCount)

  @Sendable static func messages() -> [[UInt8]] {
    RecordedHandshake.pase.steps.map(\.datagram) + RecordedHandshake.certificates.steps.map(\.datagram)
      + [StatusReport(.busy, .busy, data: [0xF4, 1]).encoded]
      + [try? CheckInMessage(counter: 1).sealed(with: checkInKey)].compactMap(\.self)
  }

  /// Messages, each preceded by a byte for its kind.
  @Sendable static func interactions() -> [[UInt8]] {
    let path = ConcreteAttributePath(1, 0x0006, 0)
    let acl = AttributeWrite(
      ConcreteAttributePath(0, 0x001F, 0),
      value: [0x16, 0x15, 0x24, 1, 5, 0x24, 2, 2, 0x36, 3, 0x24, 0, 1, 0x18, 0x34, 4, 0x18, 0x18])
    let toggle = InvokeRequest([CommandData(CommandPath(endpoint: 1, cluster: 0x0006, command: 2))])
    var array: [[UInt8]] = []
    array.append([0] + StatusResponse(.success).encoded)
    array.append(
      [1]
        + ReadRequest(
          attributePaths: [AttributePath(path), AttributePath()], eventPaths: [EventPath()],
          eventFilters: [EventFilter(eventMin: 1)],
          dataVersionFilters: [DataVersionFilter(ClusterPath(1, 0x0006), dataVersion: 5)]
        ).encoded)
    array.append(
      [2]
        + SubscribeRequest(
          minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [AttributePath()], eventPaths: [EventPath()]
        ).encoded)
    array.append([3] + SubscribeResponse(subscriptionID: 7, maxInterval: 60).encoded)
    array.append(
      [4]
        + ReportData(
          subscriptionID: 7,
          attributeReports: [
            .data(AttributeData(path, dataVersion: 3, value: [0x09])),
            .status(AttributeStatus(AttributePath(path), status: Status(.unsupportedAttribute))),
          ]
        ).encoded)
    array.append([5] + WriteRequest([acl, AttributeWrite(path, value: [0x09])]).encoded)
    array.append([6] + WriteResponse([AttributeStatus(AttributePath(path), status: .success)]).encoded)
    array.append([7] + toggle.encoded)
    array += emptyFields.map { [7] + InvokeRequest([$0]).encoded }
    array += emptyLists.map { [5] + WriteRequest([$0]).encoded }
    array.append(
      [8]
        + InvokeResponse([
          .status(CommandStatus(CommandPath(endpoint: 1, cluster: 0x0006, command: 2), status: .success, ref: 1))
        ]).encoded)
    array.append([9] + TimedRequest(timeoutMilliseconds: 500).encoded)
    array.append([10] + toggle.encoded)
    array.append([11, 0x16, 0x15, 0x24, 1, 5, 0x18, 0x04, 7, 0x18])
    return array
  }

  /// Commands with optional octet strings and lists that are empty or null instead of omitted, as some peers send them.
  private static var emptyFields: [CommandData] {
    func fields(_ cluster: ClusterID, _ command: CommandID, _ make: ([UInt8]) -> [UInt8]) -> [CommandData] {
      // The control octet and the length of an empty octet string, a null and an empty array; the tag is between them.
      [(0x30, [0]), (0x34, []), (0x36, [0x18])].map { (control: UInt8, rest: [UInt8]) in
        CommandData(
          CommandPath(endpoint: cluster == 0x0062 ? 1 : 0, cluster: cluster, command: command),
          fields: [0x15] + make([control]).flatMap { $0 == 0xEE ? rest : [$0] } + [0x18])
      }
    }
    // 0xEE stands for the rest of the field.
    return fields(0x003E, 0x04) { $0 + [0, 0xEE] }
      + fields(0x003E, 0x06) { [0x30, 0, 1, 0] + $0 + [1, 0xEE, 0x30, 2, 1, 0, 0x24, 3, 1, 0x25, 4, 0xF1, 0xFF] }
      + fields(0x003E, 0x07) { [0x30, 0, 1, 0] + $0 + [1, 0xEE] }
      + fields(0x003E, 0x0B) { $0 + [0, 0xEE] }
      + fields(0x003F, 0x00) { [0x35, 0, 0x24, 0, 1, 0x24, 1, 0] + $0 + [2, 0xEE] + $0 + [4, 0xEE, 0x34, 5, 0x18] }
      + fields(0x0062, 0x00) { [0x24, 0, 0, 0x24, 1, 1, 0x24, 2, 0, 0x2C, 3, 0] + $0 + [4, 0xEE] }
  }

  /// Writes of lists with such fields: access control, bindings, the group key map.
  private static var emptyLists: [AttributeWrite] {
    let entry: [UInt8] = [0x15, 0x24, 1, 5, 0x24, 2, 2]
    return [[0x36, 3, 0x18, 0x36, 4, 0x18], [0x34, 3, 0x34, 4]].map { (rest: [UInt8]) in
      AttributeWrite(ConcreteAttributePath(0, 0x001F, 0), value: [0x16] + entry + rest + [0x18, 0x18])
    } + [
      AttributeWrite(ConcreteAttributePath(1, 0x001E, 0), value: [0x16, 0x15, 0x34, 1, 0x34, 3, 0x18, 0x18]),
      AttributeWrite(ConcreteAttributePath(0, 0x003F, 0), value: [0x16, 0x18]),
    ]
  }

  private static func attestation() -> TestAttestation? {
    var random = SeededRandomSource(seed: 5)
    return try? TestAttestation(
      vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: 0x0100, random: &random, signatures: DeterministicSignatures())
  }

  @Sendable static func certificates() -> [[UInt8]] {
    guard let parties = try? Parties() else { return [] }
    let fabric = parties.serverFabric
    var inputs = [fabric.rootCertificate, fabric.operationalCertificate, fabric.tlv]
    for bytes in [fabric.rootCertificate, fabric.operationalCertificate] {
      if let certificate = try? MatterCertificate(tlv: bytes) { inputs.append(certificate.x509) }
    }
    if let attestation = attestation() { inputs += [attestation.pai.der, attestation.dac.der] }
    if let request = try? CertificateSigningRequest(key: fabric.operationalKey, signatures: DeterministicSignatures()) {
      inputs.append(request.der)
    }
    return inputs
  }

  @Sendable static func declarations() -> [[UInt8]] {
    guard let declaration = attestation()?.certificationDeclaration else { return [] }
    return [
      declaration,
      AttestationElements(certificationDeclaration: declaration, nonce: [UInt8](repeating: 1, count: 32)).tlv,
      NOCSRElements(certificateSigningRequest: [0x30, 0], nonce: [UInt8](repeating: 2, count: 32)).tlv,
    ]
  }

  @Sendable static func setupCodes() -> [[UInt8]] {
    let vendor = SetupPayload(
      vendorID: 0xFFF1, productID: 0x8000, flow: .custom, discriminator: .long(3840), passcode: 20_202_021)
    var extra = vendor
    extra.additionalData = [0x15, 0x2C, 0x81, 3, 0x61, 0x62, 0x63, 0x24, 0x82, 1, 0x18]
    let texts = [
      try? vendor.qrText, try? vendor.manualCode, try? extra.qrText, try? SetupPayload.qrText(of: [vendor, vendor]),
      "MT:Y.K9042C00KA0648G00", "3497-011-2332", "749701123365521327694",
    ]
    return texts.compactMap { $0.map { Array($0.utf8) } }
  }

  private static var lamp: MatterService {
    var service = MatterService(kind: .commissionable(instance: 0xABCD), hostName: "B6A1F0C3D2E4", port: 5540)
    service.discriminator = 3840
    service.commissioningMode = 1
    service.setVendor(0xFFF1, product: 0x8000)
    service.deviceName = "Lamp"
    return service
  }

  /// A responder with two services.
  static let responder: DNSResponder = {
    var responder = DNSResponder(random: SeededRandomSource(seed: 1))
    responder.setInterfaces([InterfaceID(1): [.v4(0x7F00_0001), .loopback6]], at: .zero)
    responder.publish(lamp, at: .zero)
    responder.publish(
      MatterService(
        kind: .operational(compressedFabricID: 0x1234, nodeID: 2), hostName: "B6A1F0C3D2E4", port: 5540), at: .zero)
    return responder
  }()

  /// A browser for two kinds of services.
  static let browser: DNSBrowser = {
    var options = DNSBrowser.Options()
    options.interfaces = [InterfaceID(1)]
    var browser = DNSBrowser(random: SeededRandomSource(seed: 2), options: options)
    _ = browser.browse(.commissionable(), at: .zero)
    _ = browser.browse(.operational(compressedFabricID: 0x1234, nodeID: 2), at: .zero)
    return browser
  }()

  @Sendable static func dns() -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var responder = responder
    var browser = browser
    for _ in 0..<8 {
      while let output = responder.nextOutput() { packets.append(output.bytes) }
      while let output = browser.nextOutput() { packets.append(output.bytes) }
      guard let next = responder.nextDeadline else { break }
      responder.advance(to: next)
    }
    return Array(Set(packets)).sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Sendable static func definitions() -> [[UInt8]] {
    [
      "home: Demo\nrooms:\n  - Kitchen\ndevices:\n  - name: Ceiling\n    type: dimmable-light\n    room: Kitchen\n",
      "home: Demo\ndevices:\n  - {name: Lamp, type: on-off-light, passcode: 20202021, discriminator: 3840}\n",
      "home: &a Demo\ndevices:\n  - name: *a\n    type: on-off-light\n    port: 5540\n    vendor: 0xFFF1\n",
    ].map { Array($0.utf8) }
  }
}
