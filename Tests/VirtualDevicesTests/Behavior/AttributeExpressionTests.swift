import MatterClusters
import MatterModel
import Testing

@testable import VirtualDevices

/// Expressions of attributes as a value type, and their syntax.
@Suite("Expressions of attributes") struct AttributeExpressionTests {
  private func parse(_ text: String) throws(DefinitionError) -> AttributeExpression {
    try ExpressionParser.parse(
      text, at: SourceMark(file: "home.yaml", line: 3, column: 11), catalogue: .standard)
  }

  private let values: [String: Double] = [
    "a.1.onOff.onOff": 1, "b.1.onOff.onOff": 0, "Hall/Wi-Fi Lamp.1.levelControl.currentLevel": 254,
    "Hall/Lamp (left).1.onOff.onOff": 1, "Pump.2.thermostat.localTemperature": 21.5, "2nd/3C.1.onOff.onOff": 7,
  ]

  private func value(_ text: String) throws -> Double? { try parse(text).value { values[$0.text] } }

  @Test(
    "computes a value",
    arguments: [
      ("7", 7), ("1.5 + 2 * 3", 7.5), ("(1 + 2) * 3", 9), ("10 - 4 - 3", 3), ("24 / 4 / 3", 2), ("-2 * -3", 6),
      ("1--1", 2),
      ("min(3, 1, 2)", 1), ("MAX(3, 1 + 4)", 5), ("max(min(1, 2), -1) * 10", 10), ("2*3", 6),
      ("3C", 3), ("21.5 °C + 1", 22.5), ("60%", 60), ("1.5kW/2", 750), ("1.2m3/h * 2", 2.4), ("300lx", 300),
      ("500Wh", 0.5), ("a.onOff.onOff", 1), ("a.onOff.onOff + 3C * b.onOff.onOff", 1), ("a.onOff.onOff / 4", 0.25),
      ("a.onOff.onOff*2-1", 1), ("Hall/Wi-Fi Lamp.levelControl.currentLevel - 4", 250),
      ("\"Hall/Lamp (left).onOff.onOff\" * 60W", 60), ("Pump.2.thermostat.localTemperature + 0.5", 22),
      ("-a.onOff.onOff", -1), ("2nd/3C.onOff.onOff", 7), ("  ( 1 )  ", 1), ("a.1.OnOff.onoff", 1),
    ] as [(String, Double)]) func computes(_ text: String, _ expected: Double) throws
  {
    let result = try #require(try value(text))
    #expect(abs(result - expected) < 1e-9, "\(result)")
  }

  @Test(
    "null and results that are not finite give null",
    arguments: [
      "c.onOff.onOff", "0 * c.onOff.onOff", "max(1, c.onOff.onOff)", "1 / 0", "min(1 / b.onOff.onOff, 5)", "0 / 0",
      "max(0 / 0, 1)",
    ]) func givesNull(_ text: String) throws
  { #expect(try value(text) == nil) }

  @Test(
    "reports syntax errors with their columns",
    arguments: [
      (
        "",
        "11: found the end of the expression, expected a number, an attribute of a device such as "
          + "kitchen/lamp.onOff.onOff, “min(”, “max(” or “(”"
      ),
      ("1 + * 2", "15: found “*”, expected a number, an attribute"),
      ("1 2", "13: found “2”, expected an operator (+, -, * or /) or the end of the expression"),
      ("(1 + 2", "17: found the end of the expression, expected an operator or “)”"),
      ("1)", "12: found “)”, expected an operator (+"),
      ("min(1; 2)", "15: found “1; 2”, expected an attribute of a device"),
      ("min(1 2)", "17: found “2)”, expected an operator, or “,” and a second value"),
      ("max(1C)", "17: found “)”, expected an operator, or “,” and a second value"),
      ("max(1, 2 3)", "20: found “3)”, expected an operator, “,” or “)”"),
      ("avg(1, 2)", "11: found “avg”, expected an attribute of a device such as kitchen/lamp.onOff.onOff"),
      ("2 * lamp.onOff", "15: found “lamp.onOff”, expected an attribute of a device"),
      ("2 * lamp.onOf.onOff", "20: found cluster “onOf”, expected a known cluster, did you mean “onOff”?"),
      ("lamp.onOff.onof", "16: found attribute “onof”, expected an attribute of onOff, did you mean “onOff”?"),
      (
        "lamp.basicInformation.nodeLabel",
        "16: found attribute “nodeLabel”, expected an attribute with a number, or true or false"
      ),
      ("\"lamp.onOff.onOff", "28: found the end of the expression, expected a quotation mark at the end of the path"),
    ]) func reportsSyntax(_ text: String, _ expected: String)
  {
    let error = #expect(throws: DefinitionError.self) { try parse(text) }
    #expect(error.map { "\($0)".hasPrefix("home.yaml:3:" + expected) } == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test("limits the depth") func limitsDepth() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "(", count: count) + "1" + String(repeating: ")", count: count)
    }
    #expect(try value(nested(31)) == 1)
    for text in [nested(32), nested(5000), String(repeating: "-", count: 5000)] {
      let error = #expect(throws: DefinitionError.self) { try parse(text) }
      #expect(error.map { "\($0)".contains("at most 32 parentheses and signs") } == true)
    }
  }

  @Test("units are decoded as they are encoded") func decodesUnits() {
    for unit in ValueUnit.allCases {
      for number in [0, 1, 50, 2150, 30_000] as [Int64] {
        #expect(unit.encoded(unit.decoded(number)) == number, "\(unit) \(number)")
      }
    }
  }
}
