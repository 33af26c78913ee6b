internal import MatterModel
internal import MatterTLV

/// The messages of PASE. Matter Core § 4.14.1.2.
struct PBKDFParamRequest: ModelStruct {
  var random: Octets<32> = []
  var sessionID: UInt16 = 0
  /// The id of the passcode; 0 is the passcode on the device's label.
  var passcodeID: UInt16 = 0
  /// Whether the initiator already knows the salt and the iteration count.
  var hasParameters = false
  var parameters: SessionParameters?

  static let fields: [Field<Self>] = [
    .init(1, "InitiatorRandom", \.random), .init(2, "InitiatorSessionID", \.sessionID),
    .init(3, "PasscodeID", \.passcodeID), .init(4, "HasPBKDFParameters", \.hasParameters),
    .init(5, "InitiatorSessionParams", \.parameters),
  ]
}

struct PBKDFParamResponse: ModelStruct {
  struct PBKDF: ModelStruct {
    var iterations: UInt32 = 0
    var salt: OctetString = []

    static let fields: [Field<Self>] = [.init(1, "Iterations", \.iterations), .init(2, "Salt", \.salt)]

    var isAllowed: Bool {
      PASEParameters.saltLengths.contains(salt.bytes.count) && PASEParameters.iterationCounts.contains(iterations)
    }
  }

  var initiatorRandom: Octets<32> = []
  var responderRandom: Octets<32> = []
  var sessionID: UInt16 = 0
  /// Nil if the initiator already knows the parameters.
  var pbkdf: PBKDF?
  var parameters: SessionParameters?

  static let fields: [Field<Self>] = [
    .init(1, "InitiatorRandom", \.initiatorRandom), .init(2, "ResponderRandom", \.responderRandom),
    .init(3, "ResponderSessionID", \.sessionID), .init(4, "PBKDFParameters", \.pbkdf),
    .init(5, "ResponderSessionParams", \.parameters),
  ]
}

struct Pake1: ModelStruct {
  var pA: Octets<65> = []
  static let fields: [Field<Self>] = [.init(1, "pA", \.pA)]
}

struct Pake2: ModelStruct {
  var pB: Octets<65> = []
  var cB: Octets<32> = []
  static let fields: [Field<Self>] = [.init(1, "pB", \.pB), .init(2, "cB", \.cB)]
}

struct Pake3: ModelStruct {
  var cA: Octets<32> = []
  static let fields: [Field<Self>] = [.init(1, "cA", \.cA)]
}
