import MatterModel
import MatterTLV
import Testing

struct WireCodeTests {
  struct Color: WireCode {
    var rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    static let red = Self(0), green = Self(1)
    static let names: [UInt64: String] = [0: "Red", 1: "Green"]
  }

  struct Flags: WireBitmap {
    var rawValue: UInt16
    init(rawValue: UInt16) { self.rawValue = rawValue }
    static let first = Self(rawValue: 1 << 0), tenth = Self(rawValue: 1 << 9)
    static let names: [Int: String] = [0: "First", 9: "Tenth"]
  }

  /// Values of later revisions survive a round trip.
  @Test func roundTripsUnknownCodes() throws {
    for raw in UInt8.min...UInt8.max {
      let code = try Color(tlv: raw.tlv)
      #expect(code.rawValue == raw)
      #expect(code.tlv == raw.tlv)
      #expect(code.isKnown == (raw < 2))
    }
    #expect(Color.green.description == "Green")
    #expect(Color(200).description == "200")
    #expect(throws: TLVError.outOfRange) { try Color(tlv: UInt16(256).tlv) }
  }

  @Test func unrecognizedCodeIsUndefined() {
    struct Full: WireCode {
      var rawValue: UInt8
      init(rawValue: UInt8) { self.rawValue = rawValue }
      static let names: [UInt64: String] = [0: "Off", 254: "Low", 255: "Unknown"]
    }
    #expect(Color.unrecognized_.rawValue == 255 && Full.unrecognized_.rawValue == 253)
    #expect(!Color.unrecognized_.isKnown && !Full.unrecognized_.isKnown)
  }

  @Test func roundTripsUnknownBits() throws {
    let flags = try Flags(tlv: UInt16(0xFFFF).tlv)
    #expect(flags.contains([.first, .tenth]))
    #expect(flags.tlv == UInt16(0xFFFF).tlv)
    #expect(Flags.schema == .bitmap(bits: 16, names: [0: "First", 9: "Tenth"]))
  }

  @Test func describesCodesInWords() {
    struct State: WireCode {
      var rawValue: UInt8
      init(rawValue: UInt8) { self.rawValue = rawValue }
      static let names: [UInt64: String] = [0: "Off", 1: "FanOnly", 2: "COAlarm", 3: "InterconnectCO", 4: "Not2Fast"]
    }
    let words = (0...5).map { State(UInt8($0)).words }
    #expect(words == ["off", "fan only", "CO alarm", "interconnect CO", "not2 fast", "5"])
  }

  @Test func definesStatusCodes() {
    #expect(StatusCode.unsupportedAccess.rawValue == 0x7E)
    #expect(StatusCode.constraintError.description == "CONSTRAINT_ERROR")
    #expect(StatusCode(0x42).description == "66")
    #expect(Status(.failure, clusterCode: 2).description == "FAILURE (cluster status 2)")
  }
}
