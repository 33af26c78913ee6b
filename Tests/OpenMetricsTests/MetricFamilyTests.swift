import Testing

@testable import OpenMetrics

@Suite("Metrics as text") struct MetricFamilyTests {
  @Test("conforms to OpenMetrics") func text() throws {
    let families: [MetricFamily] = [
      .init(
        "a_messages", .counter, unit: "messages", "Messages\nby \"reason\" \\.", by: "reason", ["x\"y\\\n": 3, "b": 0]),
      .init("b_seconds", .gauge, unit: "seconds", "A time.", [.init(1.5)]),
      .init("c", .counter, "Without samples.", [] as [MetricFamily.Sample]),
      .init("d", .counter, "A large number.", UInt64(1) << 53),
    ]
    let text = MetricFamily.text(families)
    #expect(
      text == """
        # TYPE a_messages counter
        # UNIT a_messages messages
        # HELP a_messages Messages\\nby \\"reason\\" \\\\.
        a_messages_total{reason="b"} 0
        a_messages_total{reason="x\\"y\\\\\\n"} 3
        # TYPE b_seconds gauge
        # UNIT b_seconds seconds
        # HELP b_seconds A time.
        b_seconds 1.5
        # TYPE c counter
        # HELP c Without samples.
        # TYPE d counter
        # HELP d A large number.
        d_total 9007199254740992
        # EOF

        """)
    let parsed = try OpenMetricsParser.parse(text)
    #expect(parsed.map(\.name) == ["a_messages", "b_seconds", "c", "d"])
    #expect(parsed[0].help == "Messages\nby \"reason\" \\." && parsed[0].samples.count == 2)
    #expect(MetricFamily.text([]) == "# EOF\n")
  }

  @Test(
    "the parser of the tests rejects other texts",
    arguments: [
      "", "# EOF", "# TYPE a counter\na 1\n# EOF\n", "# TYPE a counter\na_total -1\n# EOF\n", "a 1\n# EOF\n",
      "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n", "# TYPE a gauge\na 1\na 2\n# EOF\n",
      "# TYPE a gauge\na 1\n# HELP a x\n# EOF\n", "# TYPE a gauge\na{b=\"c} 1\n# EOF\n",
      "# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n", "# TYPE a gauge\na 1\n# EOF\n\n", "# TYPE a_total counter\n# EOF\n",
    ]) func parser(_ text: String)
  {
    #expect(throws: OpenMetricsParser.Failure.self) { try OpenMetricsParser.parse(text) }
  }
}
