import Foundation
import FoundationXML
import Glibc
import Testing

/// `hearth test` and `hearth replay`.
@Suite("hearth test", .processes) struct ScenarioCommandTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "scenarios-\(UUID().uuidString)")

  /// Writes a scenario into the folder of the test, which is removed with the test.
  private func write(_ name: String, _ steps: String) throws -> String {
    ProcessScope.add(directory: folder.path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: name)
    let text = "scenario: Lamp & co\ndevices:\n  - { name: Lamp, type: on/off light }\n" + steps
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file.path
  }

  @Test(.timeLimit(.minutes(10))) func reportsFailureWithCommandThatRepeatsIt() async throws {
    let hearth = Hearth()
    let file = try write(
      "a.yaml",
      "vary: { n: 1..2 }\nsteps:\n  - { do: on lamp, times: $n }\n  - expect: { lamp.onOff: false, within: 2s }\n")
    let junit = folder.appending(path: "out.xml").path
    let result = try await hearth("test", file, "--seeds", "3..4", "--junit", junit, "--variant", "2")
    #expect(result.status == 11)
    #expect(result.output.contains("FAILED  Lamp & co, n 2, seed 3"))
    #expect(result.output.contains("\(file):7:15: expected lamp.onOff: false: it is true, also after 2 s"))
    #expect(result.output.contains("again: hearth test \(file) --seed 4 --variant 2"))
    #expect(result.output.contains("do on lamp"))
    let xml = try String(contentsOfFile: junit, encoding: .utf8)
    #expect(xml.contains("<testsuites tests=\"2\" failures=\"2\""))
    #expect(xml.contains("again: hearth test \(file) --seed 3 --variant 2"))
    #expect(try await hearth("test", file, "--variant", "9").status == 2)
  }

  /// All parts of the run use the same names, so that their results can be merged.
  @Test("distinguishes scenarios with the same title by their files", .timeLimit(.minutes(10)))
  func distinguishesFiles() async throws {
    let hearth = Hearth()
    let files = try ["a.yaml", "b.yaml"].map { try write($0, "steps:\n  - wait: 1s\n") }
    let junit = folder.appending(path: "out.xml").path
    func cases(_ options: String...) async throws -> Set<String> {
      let result = try await hearth.run(["test"] + files + ["--seeds", "1..2", "--junit", junit] + options)
      #expect(result.status == 0, "\(result)")
      let xml = try XMLDocument(data: try Data(contentsOf: URL(filePath: junit)))
      let names = try xml.nodes(forXPath: "//testcase").compactMap { $0 as? XMLElement }.map { element in
        ["classname", "name"].compactMap { element.attribute(forName: $0)?.stringValue }.joined(separator: ": ")
      }
      #expect(names.count == Set(names).count)
      return Set(names)
    }
    let whole = try await cases()
    #expect(whole == Set(files.flatMap { file in [1, 2].map { "Lamp & co (\(file)): seed \($0)" } }))
    let first = try await cases("--shard", "1/3")
    let second = try await cases("--shard", "2/3")
    let third = try await cases("--shard", "3/3")
    #expect(first.union(second).union(third) == whole)
  }

  /// A pipe can be read only once, and has no size.
  @Test(.timeLimit(.minutes(10))) func readsFilesFromPipes() async throws {
    let hearth = Hearth()
    let file = try write("p.yaml", "steps:\n  - wait: 1s\n")
    #expect(try await hearth("test", file, "--seed", "1", "--trace", folder.path).status == 0)
    let trace = folder.appending(path: "p-1.trace").path
    let twice = try write("devices.yaml", "devices: []\n")
    for (command, file, status, expected) in [
      ("test", file, 0, "1 run passed"), ("replay", trace, 0, "the same, byte for byte"),
      ("run", twice, 12, "pipe:4:1: found the key “devices” again"),
    ] as [(String, String, Int32, String)] {
      let pipe = folder.appending(path: "pipe").path
      #expect(mkfifo(pipe, 0o600) == 0)
      defer { unlink(pipe) }
      let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
      let process = try hearth.start([command, pipe], output: output, errors: errors)
      var end: Int32 = -1
      #expect(
        await eventually {
          // Fails until the process has opened the pipe for reading.
          end = open(pipe, O_WRONLY | O_NONBLOCK)
          return end >= 0 || !process.isRunning
        })
      if end >= 0 {
        _ = fcntl(end, F_SETFL, 0)
        let handle = FileHandle(fileDescriptor: end, closeOnDealloc: true)
        try handle.write(contentsOf: try Data(contentsOf: URL(filePath: file)))
        try handle.close()
      }
      let exit = await process.end()
      let text = try String(contentsOf: output, encoding: .utf8)
      let complaint = try String(contentsOf: errors, encoding: .utf8)
      #expect(exit == .exit(status) && (text + complaint).contains(expected), "\(text)\(complaint)")
    }
  }

  @Test(.timeLimit(.minutes(10))) func reportsErrorsWithExitCodes() async throws {
    let hearth = Hearth()
    let missing = try await hearth("test", "nowhere.yaml")
    #expect(missing.status == 3 && missing.errors.contains("nowhere.yaml can't be read"), "\(missing.errors)")
    #expect(try await hearth("replay", "nowhere.trace").status == 3)
    for command in ["test", "replay"] {
      let directory = try await hearth.run([command, FileManager.default.temporaryDirectory.path])
      #expect(
        directory.status == 2 && directory.errors.contains("can't be read: is a directory"), "\(directory.errors)")
    }
    #expect(try await hearth("test").status == 2)

    // An invalid byte after a character of two bytes.
    let latin = URL(filePath: try write("latin.yaml", ""))
    try Data("# é\nname: é".utf8 + [0xE9, 0x20]).write(to: latin)
    for command in ["test", "replay"] {
      let refused = try await hearth.run([command, latin.path])
      #expect(
        refused.status == 12 && refused.errors.contains("latin.yaml:2:8: found the byte 0xe9, which is not UTF-8"),
        "\(refused.errors)")
    }

    let wrong = try write("w.yaml", "steps:\n  - powr: { lamp: off }\n  - expect: { lmp.onOff: true }\n")
    let invalid = try await hearth("test", wrong)
    #expect(invalid.status == 12)
    #expect(invalid.errors.contains("w.yaml:5:5: found key “powr”") && invalid.errors.contains("did you mean “power”?"))
    #expect(invalid.errors.contains("w.yaml:6:15: found device “lmp”"), "\(invalid.errors)")
    #expect(invalid.errors.contains("did you mean “Lamp”?"), "\(invalid.errors)")

    // No other scenario is run either.
    let fine = try write("f.yaml", "steps:\n  - wait: 1s\n")
    let refused = try await hearth("test", fine, wrong, "--realtime")
    #expect(refused.status == 12 && refused.output.isEmpty)

    #expect(try await hearth("test", fine, "--seed", "1", "--seeds", "1..2").status == 2)
    let unnamed = try await hearth("test", fine, "--junit", "-")
    #expect(unnamed.status == 2 && unnamed.errors.contains("--junit: expected a file"), "\(unnamed.errors)")
    #expect(try await hearth("test", fine).output.hasSuffix("\n1 run passed\n"))
    for (option, value, expected) in [
      ("--seed", "-1", "expected a whole number from 0 to 18446744073709551615"),
      ("--seeds", "5..3", "expected the smaller number first: 3..5"),
      ("--defect", "sendOnce", "expected one of sendsOnce, "), ("--defect", "sendOnce", "did you mean “sendsOnce”?"),
      ("--variant", "a", "expected a whole number, one of the file's “vary”"),
    ] {
      let result = try await hearth("test", fine, option, value)
      #expect(result.status == 2 && result.output.isEmpty)
      #expect(result.errors.contains("the value '\(value)' is invalid for '\(option) <"), "\(result.errors)")
      #expect(result.errors.contains(expected), "\(result.errors)")
    }
    let unwritable = try await hearth("test", fine, "--junit", folder.path + "/no/out.xml")
    #expect(unwritable.status == 2 && unwritable.errors.contains("out.xml can't be written"), "\(unwritable.errors)")
    #expect(unwritable.output.isEmpty, "no run before the check: \(unwritable.output)")

    // The results are written even if the traces can't be.
    let results = folder.appending(path: "results.xml").path
    let traceless = try await hearth("test", fine, "--trace", fine + "/no", "--junit", results)
    #expect(traceless.status == 2 && traceless.errors.contains("can't be created"), "\(traceless.errors)")
    #expect(FileManager.default.fileExists(atPath: results))

    // Failed runs determine the exit code.
    let wrongly = try write("e.yaml", "steps:\n  - expect: { lamp.onOff: true }\n")
    let failed = try await hearth("test", wrongly, "--trace", fine + "/no")
    #expect(failed.status == 11 && failed.errors.contains("1 of 1 runs failed"), "\(failed.errors)")
    #expect(failed.errors.contains("can't be"), "\(failed.errors)")

    let stuck = try write("s.yaml", "limit: 5s\nsteps:\n  - do: on lamp\n  - wait: 1h\n")
    let over = try await hearth("test", stuck)
    #expect(over.status == 11)
    #expect(over.output.contains("s.yaml:7:5: the time is over after 5 s (“limit:” of the scenario)"), "\(over.output)")
    #expect(over.output.contains("there still waits “\(stuck):7:5: wait 60 min”"), "\(over.output)")
  }

  @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM, SIGILL, SIGSEGV]) func reportsCurrentRunAfterSignal(
    _ signal: Int32
  ) async throws {
    let hearth = Hearth()
    let file = try write("i.yaml", "steps:\n  - wait: 5h\n")
    let junit = folder.appending(path: "out.xml")
    let (output, errors) = (folder.appending(path: "out.txt"), folder.appending(path: "err.txt"))
    let process = try hearth.start(
      ["test", file, "--seeds", "1..1000000", "--junit", junit.path], output: output, errors: errors,
      // The backtrace for a sent signal takes time and has no information.
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(try await eventually { try !String(contentsOf: output, encoding: .utf8).isEmpty || !process.isRunning })
    process.send(signal)
    let isCrash = signal == SIGILL || signal == SIGSEGV
    #expect(await process.end() == (isCrash ? .signal(signal) : .exit(130)))
    let printed = try String(contentsOf: output, encoding: .utf8).split(separator: "\n").count
    let message = try String(contentsOf: errors, encoding: .utf8)
    let reason = isCrash ? "the process crashed (signal \(signal))" : "interrupted"
    let report = try XMLDocument(data: try Data(contentsOf: junit))
    let cases = try report.nodes(forXPath: "//testcase").compactMap { $0 as? XMLElement }
    let seed = cases.count
    #expect(
      message.hasSuffix("hearth: \(reason) in Lamp & co, seed \(seed); again: hearth test \(file) --seed \(seed)\n"),
      "\(message)")
    // All other lines are the events of the run.
    let events = message.split(separator: "\n").dropLast()
    #expect(events.allSatisfy { $0.hasPrefix("hearth:     ") || $0.hasPrefix("    ") }, "\(message)")
    // The last passed run may not have been printed yet; the interrupted one is not printed.
    #expect(printed > 0 && (printed...printed + 1).contains(seed - 1), "\(printed), \(seed)")
    #expect(cases.map { $0.attribute(forName: "name")?.stringValue } == (1...seed).map { "seed \($0)" })
    let failures = try report.nodes(forXPath: "//testcase[failure]").compactMap { $0 as? XMLElement }
    #expect(failures.map { $0.attribute(forName: "name")?.stringValue } == ["seed \(seed)"])
    #expect(failures.first?.attribute(forName: "classname")?.stringValue == "Lamp & co")
    let text = try report.nodes(forXPath: "//failure").first?.stringValue ?? ""
    #expect(text.contains("again: hearth test \(file) --seed \(seed)"), "\(text)")
  }

  @Test(.timeLimit(.minutes(10)), arguments: [[], ["--json"]]) func failsIfResultsCannotBeWritten(_ options: [String])
    async throws
  {
    let hearth = Hearth()
    let file = try write("f.yaml", "steps:\n  - wait: 1s\n")
    let errors = folder.appending(path: "err.txt")
    let process = try hearth.start(["test", file] + options, output: URL(filePath: "/dev/full"), errors: errors)
    #expect(await process.end() == .exit(1))
    let message = try String(contentsOf: errors, encoding: .utf8)
    #expect(message == "hearth: standard output can't be written: No space left on device\n", "\(message)")
  }

  @Test(.timeLimit(.minutes(10))) func completesWritingAfterStop() async throws {
    let hearth = Hearth()
    let file = try write("p.yaml", "steps:\n  - wait: 1s\n")
    // Opening the pipe blocks until it has a reader.
    let pipe = folder.appending(path: "out.pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    let (output, errors) = (folder.appending(path: "out.txt"), folder.appending(path: "err.txt"))
    let process = try hearth.start(["test", file, "--junit", pipe], output: output, errors: errors)
    #expect(try await eventually { try !String(contentsOf: output, encoding: .utf8).isEmpty || !process.isRunning })
    process.send(SIGTERM)
    // The process prints a message when it handles the signal.
    #expect(try await eventually { try !String(contentsOf: errors, encoding: .utf8).isEmpty || !process.isRunning })
    // Nonblocking, in case the process has ended already.
    let reader = open(pipe, O_RDONLY | O_NONBLOCK)
    #expect(reader >= 0)
    let end = await process.end()
    var text = [UInt8](repeating: 0, count: 65_536)
    let count = read(reader, &text, text.count)
    close(reader)
    if case .signal(let signal) = end { Issue.record("ended by signal \(signal)") }
    #expect(
      String(decoding: text.prefix(max(0, count)), as: UTF8.self).contains("<testsuites tests=\"1\" failures=\"0\""))
  }

  /// The results are written to a pipe without a reader, during the runs and after them.
  @Test(.timeLimit(.minutes(10)), arguments: ["1..1000000", "1..1"]) func secondStopEndsAtOnce(_ seeds: String)
    async throws
  {
    let hearth = Hearth()
    let file = try write("t.yaml", "steps:\n  - wait: 1s\n")
    let pipe = folder.appending(path: "out.pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    let (output, errors) = (folder.appending(path: "out.txt"), folder.appending(path: "err.txt"))
    let process = try hearth.start(
      ["test", file, "--seeds", seeds, "--junit", pipe], output: output, errors: errors)
    #expect(try await eventually { try !String(contentsOf: output, encoding: .utf8).isEmpty || !process.isRunning })
    let begin = ContinuousClock.now
    process.interrupt()
    #expect(try await eventually { try !String(contentsOf: errors, encoding: .utf8).isEmpty || !process.isRunning })
    // Signals within a second of the first one count as the same stop.
    #expect(
      await eventually {
        process.interrupt()
        return !process.isRunning
      })
    #expect(ContinuousClock.now - begin >= .seconds(1))
    #expect(await process.end() == .exit(130))
  }

  /// Also checks that each step is printed when it begins.
  @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM]) func removesStoresOfRunInRealTime(_ signal: Int32)
    async throws
  {
    let hearth = Hearth()
    let file = try write("r.yaml", "steps:\n  - do: on lamp\n  - wait: 5h\n")
    let (temporary, junit) = (folder.appending(path: "temporary"), folder.appending(path: "out.xml"))
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    let errors = folder.appending(path: "err.txt")
    let process = try hearth.start(
      ["test", file, "--realtime", "--junit", junit.path], output: folder.appending(path: "out.txt"), errors: errors,
      environment: ["TMPDIR": temporary.path])
    func messages() throws -> String { try String(contentsOf: errors, encoding: .utf8) }
    #expect(try await eventually { try messages().contains("r.yaml:6:5: wait") || !process.isRunning })
    let steps = try messages()
    #expect(steps.contains("s: \(file):5:5: do on lamp\n"), "\(steps)")
    #expect(try !FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    process.send(signal)
    #expect(await process.end() == .exit(130))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    // The report has the elapsed time.
    let report = try XMLDocument(data: try Data(contentsOf: junit))
    let time = try report.nodes(forXPath: "//testcase/@time").first?.stringValue.flatMap(Double.init)
    #expect(time.map { $0 > 0 } == true, "\(report)")
  }

  @Test(.timeLimit(.minutes(10))) func replacesResultsAtomically() async throws {
    let hearth = Hearth()
    let file = try write("w.yaml", "steps:\n  - wait: 1s\n")
    let junit = folder.appending(path: "out.xml")
    try "of before".write(to: junit, atomically: false, encoding: .utf8)
    let before = try FileHandle(forReadingFrom: junit)
    #expect(try await hearth("test", file, "--junit", junit.path).status == 0)
    #expect(try before.readToEnd().map { String(decoding: $0, as: UTF8.self) } == "of before")
    #expect(try String(contentsOf: junit, encoding: .utf8).contains("failures=\"0\""))
  }

  @Test(.timeLimit(.minutes(10))) func resultsHaveStableKeys() async throws {
    let hearth = Hearth()
    let file = try write(
      "k.yaml",
      "vary: { n: 1..2 }\nsteps:\n  - { do: on lamp, times: $n }\n  - expect: { lamp.onOff: false, within: 2s }\n")
    func keys(_ text: String) throws -> [Set<String>] {
      try text.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return Set(((object?["data"] ?? object?["error"]) as? [String: Any] ?? [:]).keys)
      }
    }
    let all: Set = [
      "scenario", "variant", "seed", "passed", "milliseconds", "elapsedMilliseconds", "digest", "commands", "losses",
    ]
    let traces = folder.appending(path: "traces").path
    let result = try await hearth("test", file, "--variant", "2", "--json", "--trace", traces)
    #expect(result.status == 11)
    #expect(
      try keys(result.output) == [
        all.union(["message", "again", "place", "excerpt", "timeline"]), ["code", "message", "device"],
      ])
    #expect(result.output.contains("\"variant\":2,\"seed\":\"1\",\"passed\":false"), "\(result.output)")
    #expect(result.output.contains("{\"ok\":false,\"error\":{\"code\":\"expectationFailed\""))
    let fine = try write("l.yaml", "steps:\n  - wait: 1s\n")
    let passed = try await hearth("test", fine, "--json", "--trace", traces)
    #expect(try keys(passed.output) == [all])
    let replayed = try await hearth("replay", traces + "/l-1.trace", "--json")
    #expect(try keys(replayed.output) == [["entries", "digest"]])
    // The command that repeats a run has the injected defect.
    let defect = try await hearth("test", file, "--variant", "1", "--defect", "sendsOnce")
    #expect(
      defect.output.contains("again: hearth test \(file) --seed 1 --variant 1 --defect sendsOnce"), "\(defect.output)")
    for option in [["--seed", "1"], ["--seeds", "1..2"], ["--trace", traces]] {
      let refused = try await hearth.run(["test", fine, "--realtime"] + option)
      #expect(refused.status == 2 && refused.errors.contains("--realtime can't be combined"), "\(refused.errors)")
    }
  }

  @Test(.timeLimit(.minutes(10))) func reportsFailureInRealTime() async throws {
    let hearth = Hearth()
    // The home has the value only after the lamp has reported it, which takes a while on a busy machine.
    let file = try write(
      "my lamp.yaml",
      "steps:\n  - do: on lamp\n  - expect: { lamp.onOff: true, within: 60s }\n"
        + "  - expect: { lamp.onOff: false, within: 1s }\n")
    let junit = folder.appending(path: "real.xml").path
    let result = try await hearth("test", file, "--realtime", "--junit", junit)
    #expect(result.status == 11)
    #expect(result.output.contains("my lamp.yaml:7:15: expected lamp.onOff: false: it is true, also after 1 s"))
    #expect(result.output.contains("again: hearth test '\(file)' --realtime"), "\(result.output)")
    let xml = try String(contentsOfFile: junit, encoding: .utf8)
    #expect(xml.contains("<testsuites tests=\"1\" failures=\"1\""), "\(xml)")
    #expect(xml.contains("real time"), "\(xml)")
  }

  @Test(.timeLimit(.minutes(10))) func replaysTrace() async throws {
    let hearth = Hearth()
    let file = try write(
      "b.yaml", "steps:\n  - net: { lamp: { loss: 20%, jitter: 20ms } }\n  - { do: toggle lamp, times: 3 }\n")
    let traces = folder.appending(path: "traces").path
    let run = try await hearth("test", file, file, "--seed", "5", "--trace", traces, "--json")
    #expect(run.status == 0)
    #expect(run.output.contains("\"passed\":true"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: traces).sorted() == ["b-5.trace", "b-5_2.trace"])
    let replay = try await hearth("replay", traces + "/b-5.trace")
    #expect(replay.status == 0)
    #expect(replay.output.hasPrefix("the same, byte for byte: "))

    var lines = try String(contentsOfFile: traces + "/b-5.trace", encoding: .utf8).split(separator: "\n")
    lines[5] += "!"
    try lines.joined(separator: "\n").write(toFile: traces + "/c.trace", atomically: true, encoding: .utf8)
    let other = try await hearth("replay", traces + "/c.trace")
    #expect(other.status == 11)
    #expect(other.errors.contains("entry 5 (line 6) differs at byte"))
    #expect(try await hearth("replay", file).status == 12, "a scenario is not a trace")
    // One of the traces may be shorter.
    let recorded = try String(contentsOfFile: traces + "/b-5.trace", encoding: .utf8).split(separator: "\n")
    for (lines, expected) in [
      (recorded.dropLast(), "recorded: nothing more"), (recorded + ["1 - note -  x"], "now:      nothing more"),
    ] {
      try (lines.joined(separator: "\n") + "\n").write(toFile: traces + "/c.trace", atomically: true, encoding: .utf8)
      let other = try await hearth("replay", traces + "/c.trace")
      #expect(other.status == 11 && other.errors.contains(expected), "\(other.errors)")
    }

    // Traces with an invalid seed or an unknown defect.
    let whole = try String(contentsOfFile: traces + "/b-5.trace", encoding: .utf8)
    for (broken, found) in [
      ("\"seed\":-5", "c.trace:1:1: found an invalid “seed”"),
      ("\"seed\":\"5\"", "expected a whole number from 0 to 1844"),
      ("\"seed\":99999999999999999999", "expected a whole number from 0 to 1844"),
      ("\"mutant\":\"unknown\",\"seed\":5", "c.trace:1:1: found defect “unknown”, expected one of sendsOnce"),
    ] {
      try whole.replacingOccurrences(of: "\"seed\":5", with: broken)
        .write(toFile: traces + "/c.trace", atomically: true, encoding: .utf8)
      let refused = try await hearth("replay", traces + "/c.trace")
      #expect(refused.status == 12 && refused.errors.contains(found), "\(refused.errors)")
    }
  }
}
