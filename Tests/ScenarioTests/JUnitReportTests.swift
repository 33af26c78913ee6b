import Foundation
import FoundationXML
import Scenario
import Simulation
import Testing
import VirtualDevices

@Suite("JUnit reports") struct JUnitReportTests {
  @Test func escapesTextForXML() async throws {
    var result = try await ScenarioRunTests.result("steps:\n  - wait: 1s")
    let text = "]]> <![CDATA[ \u{0} \u{1B}[31m \u{FFFE}\u{FFFF} \r\n \u{85} \u{1F4A1} é \" ' & <"
    (result.scenario, result.failure) = (text, .init(message: text, mark: nil, timeline: [text]))
    result.failure?.again = text
    let document = try XMLDocument(xmlString: JUnitReport.text([result]))
    let failure = try #require(try document.nodes(forXPath: "//failure").first as? XMLElement)
    #expect(failure.attribute(forName: "message")?.stringValue?.contains("\u{1F4A1} é \" ' & <") == true)
    #expect(failure.stringValue?.contains("again: ]]> <![CDATA[ ? ?[31m ??") == true)
  }

  @Test("reports wall-clock seconds, the source line, commands and losses") func detailsOfAReport() async throws {
    let text = """
      steps:
        - do: off lamp
        - net: { lamp: { loss: 100% } }
        - { do: on lamp, times: 2 }
        - wait: 2h
        - expect: { lamp.onOff: true }
      """
    let result = try await ScenarioRunTests.result(text)
    #expect(result.duration > .seconds(7200) && result.elapsed < .seconds(3600))
    let failure = try #require(result.failure)
    #expect(failure.excerpt == "9 |   - expect: { lamp.onOff: true }\n  |               ^", "\(failure)")
    #expect(result.commands.map(\.count) == [1, 2], "\(result.commands)")
    #expect(result.commands[0].description == "0 s: do off lamp: done")
    #expect(result.commands[1].error?.isEmpty == false, "\(result.commands)")
    #expect(result.losses.contains { ($0.sender, $0.receiver, $0.reason) == ("hub", "Kitchen/Lamp", .link) })
    #expect("\(result)".contains("  9 |   - expect: { lamp.onOff: true }\n"), "\(result)")

    let document = try XMLDocument(xmlString: JUnitReport.text([result]))
    func value(_ path: String) throws -> String { try document.nodes(forXPath: path).first?.stringValue ?? "" }
    #expect((Double(try value("//testsuites/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testsuite/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testcase/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testcase/properties/property/@value")) ?? 0) > 7200)
    #expect(try value("//failure").contains("9 |   - expect: { lamp.onOff: true }"))
    let output = try value("//testcase/system-out")
    #expect(output.contains("  0 s: do off lamp: done\n") && output.contains("s: do on lamp: failed: "), "\(output)")
    #expect(output.contains("hub to Kitchen/Lamp: ") && output.contains(" lost by the link, from "), "\(output)")
  }

  @Test("groups failures with the same line and cause") func groupedFailures() async throws {
    let passed = try await ScenarioRunTests.result("steps:\n  - wait: 1s")
    func failed(_ seed: UInt64, _ message: String, line: Int = 7) -> ScenarioResult {
      var result = passed
      result.seed = seed
      result.failure = .init(
        message: message, mark: SourceMark(file: "s.yaml", line: line, column: 1), timeline: ["what led to \(seed)"])
      return result
    }
    let results = [
      passed, failed(2, "expected messages: < 50: it is 57"), failed(3, "expected messages: < 50: it is 63.5"),
      failed(4, "expected lamp.onOff: true: it is false"), failed(5, "expected messages: < 50: it is 71"),
      failed(6, "expected messages: < 50: it is 57", line: 8),
    ]
    let groups = FailureGroup.groups(of: results)
    #expect(groups.map(\.seeds) == ["3 seeds: 2 to 3, 5", "seed 4", "seed 6"])
    #expect(groups[0].message == "s.yaml:7:1: expected messages: < 50: it is 57")
    let document = try XMLDocument(xmlString: JUnitReport.text(results))
    let failures = try document.nodes(forXPath: "//failure").compactMap(\.stringValue)
    #expect(failures.count == 5 && failures[0].contains("what led to 2") && failures[2].contains("what led to 4"))
    #expect(failures[1].contains("the same line and cause as seed 2") && !failures[1].contains("what led to"))
    let output = try document.nodes(forXPath: "//testsuite/system-out").first?.stringValue ?? ""
    #expect(output.hasPrefix("3 seeds: 2 to 3, 5: s.yaml:7:1: expected messages: < 50: it is 57\n"), "\(output)")
  }

  @Test func formatsJUnitXML() async throws {
    let passed = try await ScenarioRunTests.result("steps:\n  - wait: 1s")
    var failed = passed
    failed.seed = 2
    failed.failure = .init(message: "5 < 6 & \"so\"", mark: nil, timeline: ["a", "b"])
    let text = JUnitReport.text([passed, failed])
    #expect(text.contains("<testsuites tests=\"2\" failures=\"1\""))
    #expect(text.contains("name=\"seed 1\""))
    #expect(text.contains("message=\"5 &lt; 6 &amp; &quot;so&quot;\""))
    #expect(try XMLDocument(xmlString: text).rootElement()?.name == "testsuites")
  }
}
