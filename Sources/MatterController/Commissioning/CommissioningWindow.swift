internal import MatterClusters
internal import MatterCrypto
public import MatterModel
internal import MatterProtocol

/// An open window in which another administrator may commission a device.
public struct CommissioningWindow: Hashable, Sendable, Codable {
  /// The passcode that is valid while the window is open.
  public enum Kind: Hashable, Sendable, Codable {
    /// The passcode on the device's label.
    case basic
    /// A passcode generated for this window.
    case enhanced(passcode: UInt32, discriminator: UInt16)
  }

  public var kind: Kind
  public var duration: Duration
  /// Setup code for the other administrator; nil for a basic window.
  public var code: SetupPayload?
}

/// Parameters for opening a commissioning window. Matter Core § 11.19.8.
public struct CommissioningWindowRequest: Hashable, Sendable {
  /// 3 to 15 minutes.
  public var duration: Duration
  /// Whether the window has its own passcode instead of the one on the device's label.
  public var isEnhanced: Bool
  /// Nil: random.
  public var passcode: UInt32?
  /// Nil: random.
  public var discriminator: UInt16?
  /// PBKDF2 iterations, 1,000 to 100,000. Matter Core § 3.9.
  public var iterations: UInt32 = 1000
  /// 16 to 32 bytes; nil: random.
  public var salt: [UInt8]?

  public init(duration: Duration = .seconds(180), isEnhanced: Bool = true) {
    (self.duration, self.isEnhanced) = (duration, isEnhanced)
  }
}

extension CommissioningWindowRequest {
  /// Returns the window and the command that opens it. Draws the missing values.
  /// - Parameter record: the node, whose vendor and product are in the setup code.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` if a value is out of range.
  func window(
    of record: PeerRecord?, random: inout any RandomSource
  ) throws(ControllerError) -> (CommissioningWindow, CommandData) {
    let seconds = UInt16(clamping: duration.components.seconds)
    guard isEnhanced else {
      let fields = AdministratorCommissioning.OpenBasicCommissioningWindowRequest(commissioningTimeout: seconds)
      let path = AdministratorCommissioning.openBasicCommissioningWindow.path(on: .root)
      return (CommissioningWindow(kind: .basic, duration: duration), CommandData(path, fields: fields.tlv))
    }
    let passcode = passcode ?? Self.randomPasscode(&random)
    let discriminator = discriminator ?? UInt16(truncatingIfNeeded: random.next() & 0xFFF)
    let salt = salt ?? random.bytes(32)
    guard SetupPasscode.isValid(passcode), discriminator <= 0xFFF, (16...32).contains(salt.count),
      (1000...100_000).contains(iterations),
      let verifier = try? SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: Int(iterations))
    else { throw .invalidRequest("passcode, discriminator, iterations or salt: out of range") }
    let fields = AdministratorCommissioning.OpenCommissioningWindowRequest(
      commissioningTimeout: seconds, pakePasscodeVerifier: OctetString(verifier.bytes), discriminator: discriminator,
      iterations: iterations, salt: OctetString(salt))
    let code = SetupPayload(
      vendorID: record?.vendorID.rawValue ?? 0, productID: record?.productID ?? 0, discovery: .onNetwork,
      discriminator: .long(discriminator), passcode: passcode)
    let window = CommissioningWindow(
      kind: .enhanced(passcode: passcode, discriminator: discriminator), duration: duration, code: code)
    let path = AdministratorCommissioning.openCommissioningWindow.path(on: .root)
    return (window, CommandData(path, fields: fields.tlv))
  }

  private static func randomPasscode(_ random: inout any RandomSource) -> UInt32 {
    while true {
      let candidate = UInt32(truncatingIfNeeded: random.next() % 99_999_999)
      if SetupPasscode.isValid(candidate) { return candidate }
    }
  }
}
