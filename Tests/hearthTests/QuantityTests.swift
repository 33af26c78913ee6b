import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import Testing

@testable import hearth

@Suite("Quantities") struct QuantityTests {
  @Test(arguments: [
    ("2s", 2000), ("150ms", 150), ("1.5s", 1500), ("3m", 180_000), ("3min", 180_000), ("1h", 3_600_000),
    ("30d", 2_592_000_000), ("7", 7000),
    ("0", 0), (" 2 S ", 2000),
  ])
  func readsTimes(_ text: String, milliseconds: Int) {
    #expect(TimeSpan(argument: text)?.duration == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "s", "-2s", "2x", "1e9h", "nan", "1..2s", "99999999999999999999", "٣s"])
  func refusesTimes(_ text: String) {
    #expect(TimeSpan(argument: text) == nil)
  }

  @Test(arguments: [
    (0, "0 s"), (40, "40 ms"), (2000, "2 s"), (1250, "1.25 s"), (60_000, "1 min"), (61_000, "61 s"), (180_000, "3 min"),
  ])
  func showsTimes(_ milliseconds: Int, text: String) {
    #expect(TimeSpan.text(.milliseconds(milliseconds)) == text)
  }

  @Test(
    arguments: [
      (-5, "just now"), (900, "just now"), (2400, "2 s ago"), (119_000, "119 s ago"), (240_000, "4 min ago"),
      (7_200_000, "2 h ago"), (200_000_000, "2 days ago"),
    ] as [(Int64, String)])
  func showsAges(_ milliseconds: Int64, text: String) {
    #expect(TimeSpan.ago(milliseconds: milliseconds) == text)
  }

  @Test(
    arguments: [("0%", 0), ("0.1%", 1), ("1%", 3), ("40%", 102), ("50%", 127), ("100%", 254), ("40", 102)]
      as [(String, UInt8)])
  func readsLevels(_ text: String, level: UInt8) throws {
    #expect(try WantedLevel(text: text, raw: false).level(in: .standard) == level)
  }

  @Test func percentagesRoundTrip() throws {
    for percent in 0...100 {
      #expect(
        LevelRange.standard.percent(try WantedLevel(text: "\(percent)%", raw: false).level(in: .standard)) == percent)
    }
  }

  @Test(arguments: [
    ("101%", false), ("-1%", false), ("bright", false), ("%", false), ("", false), ("255", true), ("40%", true),
    ("nan%", false),
  ])
  func refusesLevels(_ text: String, raw: Bool) {
    #expect(throws: HomeError.self) { try WantedLevel(text: text, raw: raw) }
  }

  @Test func readsRawLevelsAndTransitionTimes() throws {
    #expect(try WantedLevel(text: "128", raw: true) == .encoded(128))
    #expect(try Duration.milliseconds(2000).transitionTime() == 20)
    #expect(throws: HomeError.self) { try Duration.seconds(7000).transitionTime() }
  }

  @Test(
    arguments: [
      ("127.0.0.1:5540", "127.0.0.1", 5540), ("[::1]:9", "::1", 9), ("::1", "::1", 5540),
      ("[fe80::1%2]", "fe80::1%2", 5540),
      ("lamp.local:5541", "lamp.local", 5541), ("lamp.local", "lamp.local", 5540),
    ] as [(String, String, UInt16)])
  func readsAddresses(_ text: String, host: String, port: UInt16) throws {
    let parts = try HostAndPort.split(text)
    #expect(parts.host == host)
    #expect(parts.port == port)
  }

  @Test(arguments: ["", ":5540", "a:0", "a:b", "a:99999", "[::1", "[::1]x", "1:2:3", "a:+5540", "[::1]:+9"])
  func refusesAddresses(_ text: String) {
    #expect(throws: HomeError.self) { try HostAndPort.split(text) }
  }

  @Test("requires a port without a default one", arguments: ["127.0.0.1", "::1", "[::1]", "hub.local"])
  func requiresPort(_ text: String) throws {
    #expect(throws: HomeError.self) { try HostAndPort.split(text, standard: nil) }
    #expect(try HostAndPort.split("127.0.0.1:0", least: 0, standard: nil).port == 0)
  }

  @Test("a host name that can't be resolved is a remote route") func acceptsUnknownHost() throws {
    // Too long for DNS, so that no query is sent.
    let host = String(repeating: "x", count: 64) + ".invalid"
    let route = try HubOptions.route("\(host):5550", StateDirectory("/nowhere"))
    #expect(route.locality == .remote)
    #expect(try HubOptions.route("127.0.0.1:5550", StateDirectory("/nowhere")).locality == .local)
  }

  @Test func showsAndReadsAttributeUnits() throws {
    #expect(AttributeUnits.text(.init(1, 8, 0), [0x04, 102]) == "40%")
    #expect(AttributeUnits.text(.init(1, 8, 0x10), [0x04, 15]) == "1.5 s")
    #expect(AttributeUnits.text(.init(1, 0x402, 0), [0x01, 0x98, 0x08]) == "22.0 °C")
    #expect(AttributeUnits.text(.init(1, 8, 0), [0x14]) == nil)
    #expect(AttributeUnits.text(.init(1, 6, 0), [0x09]) == nil)
    func parse(_ text: String, _ attribute: AttributeID, raw: Bool = false) throws -> [UInt8] {
      try AttributeUnits.parse(text, cluster: 8, attribute: attribute, raw: raw, named: "x")
    }
    #expect(try parse("40%", 0x11) == [0x04, 102])
    #expect(try parse("2s", 0x10) == [0x04, 20])
    #expect(try parse("20", 0x10) == [0x04, 20])
    #expect(try parse("null", 0x12) == [0x14])
    #expect(throws: HomeError.self) { try parse("40%", 0x11, raw: true) }
    let error = #expect(throws: HomeError.self) {
      try AttributeUnits.parse("-500C", cluster: 0x402, attribute: 0, raw: false, named: "x")
    }
    #expect(error?.message == "x: “-500C” is out of range; expected -327.67 °C to 327.67 °C", "\(error?.message ?? "")")
  }

  @Test("shows and accepts temperatures as degrees") func temperatures() throws {
    func text(_ attribute: AttributeID, _ value: Int16) -> String? {
      AttributeUnits.text(.init(1, 0x0201, attribute), value.tlv)
    }
    #expect(text(0x0000, 2150) == "21.5 °C" && text(0x0012, 2100) == "21.0 °C" && text(0x0010, -5) == "-0.5 °C")
    func parse(_ value: String, _ attribute: AttributeID, raw: Bool = false) throws -> Int16 {
      try Int16(
        tlv: try AttributeUnits.parse(value, cluster: 0x0201, attribute: attribute, raw: raw, named: "x"))
    }
    // OccupiedHeatingSetpoint in hundredths, LocalTemperatureCalibration in tenths.
    for value in ["21.5C", "21.5 °C", "21.5c", "21.5", "2150", " 21.5 °C ", "2150 "] {
      #expect(try parse(value, 0x0012) == 2150, "\(value)")
    }
    #expect(try parse("-5°C", 0x0012) == -500 && parse("2150", 0x0012, raw: true) == 2150)
    #expect(
      try Int8(tlv: AttributeUnits.parse("-0.5C", cluster: 0x0201, attribute: 0x0010, raw: false, named: "x")) == -5)
    for value in ["warmC", "21.5K", "1e9C"] { #expect(throws: HomeError.self) { try parse(value, 0x0012) } }
    #expect(throws: HomeError.self) { try parse("21.5", 0x0012, raw: true) }
  }

  @Test("shows and accepts temperatures in structures as degrees") func structureTemperatures() throws {
    let presets = ConcreteAttributePath(1, 0x0201, 0x50)
    func parse(_ text: String, raw: Bool = false) throws -> [UInt8] {
      try AttributeUnits.parse(text, cluster: 0x0201, attribute: 0x50, raw: raw, named: "presets")
    }
    let wire = "[{presetHandle: null, presetScenario: Occupied, heatingSetpoint: 2150, builtIn: false}]"
    let value = try parse(wire, raw: true)
    let text = "[{presetHandle: null, presetScenario: Occupied, heatingSetpoint: 21.5 °C, builtIn: false}]"
    #expect(AttributeUnits.text(presets, value) == text)
    #expect(try parse(text) == value && parse(wire) == value)
    #expect(throws: HomeError.self) { try parse(text, raw: true) }
  }

  @Test("accepts a type in front of a value of a known attribute") func typedValues() throws {
    func parse(_ text: String) throws -> [UInt8] {
      try AttributeUnits.parse(text, cluster: 8, attribute: 0x11, raw: false, named: "onLevel")
    }
    #expect(try parse("u8:100") == parse("100"))
    let error = #expect(throws: HomeError.self) { try parse("u16:100") }
    #expect(error?.message == "onLevel: 'u16:100' is not a value of type u8")
  }

  @Test("maps percentages to the levels that the device has") func levelRanges() throws {
    let speaker = LevelRange(lowest: 0, highest: 100)
    func level(_ text: String, _ range: LevelRange) throws -> UInt8 {
      try WantedLevel(text: text, raw: false).level(in: range)
    }
    #expect(try level("40%", speaker) == 40 && level("100%", speaker) == 100 && level("0%", speaker) == 0)
    #expect(
      try level("1%", LevelRange(lowest: 20, highest: 200)) == 20
        && level("50%", LevelRange(lowest: 20, highest: 200)) == 100)
    #expect(speaker.percent(40) == 40 && speaker.percent(100) == 100)
    #expect(AttributeUnits.text(.init(1, 8, 0), [0x04, 40], levels: speaker) == "40%")
    #expect(
      try AttributeUnits.parse("40%", cluster: 8, attribute: 0, raw: false, named: "x", levels: speaker) == [0x04, 40])
    // An inverted range, which a device may report.
    #expect(LevelRange(lowest: 9, highest: 0).percent(5) == 100)
  }
}

/// The option of commands that serve metrics.
@Suite("Metrics option") struct MetricsOptionTests {
  @Test func closesServerIfBodyThrows() async throws {
    let free = try WebServer()
    free.close()
    let options = try MetricsOptions.parse(["--metrics", "\(free.port)"])
    func outcome() async -> HomeError.Code? {
      do {
        try await options.serving(Output(isQuiet: true), { [] }) { throw HomeError(.refused, "by the body") }
        return nil
      } catch { return HomeError(error).code }
    }
    #expect(await eventually { await outcome() == .refused })
    // The port would still be in use if the first call had not closed its server.
    #expect(await outcome() == .refused)
  }
}
