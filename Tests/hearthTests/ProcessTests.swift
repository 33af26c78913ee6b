import Foundation
import Testing

@Suite("The executable", .serialized, .processes) struct ProcessTests {
  @Test(
    arguments: [
      (["nonsense"], 2), (["on"], 2), (["on", "--wrong", "x"], 2), (["level", "lamp"], 2),
      (["level", "lamp", "140%"], 2),
      (["code", "show", "123"], 2), (["code", "make", "--passcode", "11111111"], 2), (["pair"], 2),
      (["pair", "MT:", "--passcode", "1"], 2), (["decode", "ffff"], 2), (["completion", "tcsh"], 2),
      (["subscribe", "a", "--min", "5s", "--max", "2s"], 2), (["on", "lamp", "--at", "nowhere:0"], 2),
      (["on", "lamp"], 3), (["read", "lamp.onOff.onOff"], 3), (["remove", "lamp"], 3), (["rename", "a", "b"], 3),
      (["room", "remove", "Attic"], 3), (["describe", "1"], 3),
      (["--help"], 0), (["--version"], 0), (["devices"], 0), (["rooms"], 0), (["completion", "fish"], 0),
      (["code", "show", "34970112332"], 0), (["decode", "15 18"], 0),
      (["schema"], 0), (["schema", "onOff", "0x0300"], 0), (["schema", "onnOff"], 3),
      (["watch", "--since", "yesterday"], 2), (["watch", "lamp"], 3), (["watch", "--for", "0s"], 0),
      (["wait", "lamp"], 2), (["wait", "lamp", "--for", "onOff=true"], 3), (["observe", "list"], 0),
      (["observe", "add", "--run", "true"], 2), (["observe", "add", "--all"], 2),
      (["observe", "add", "--topology", "--cluster", "onOff", "--run", "true"], 2),
      (["observe", "add", "--attribute", "--device", "lamp", "--run", "true"], 3),
      (["observe", "add", "--all", "--webhook", "nowhere"], 2), (["observe", "resume", "7"], 3),
      (["observe", "remove", "7"], 3), (["home", "sync"], 0),
      (["home", "list"], 0), (["home", "primary"], 3), (["home", "primary", "Cabin"], 3),
      (["home", "remove", "Cabin"], 3), (["home", "grace"], 0), (["home", "grace", "25h"], 2),
      (["home", "grace", "soon"], 2), (["home", "cloud", "list"], 0), (["home", "cloud", "remove", "Acme"], 3),
      (["home", "cloud", "add", "Acme", "https://acme.example"], 2),
      (["home", "cloud", "add", "Acme", "https://acme.example", "--token-file", "/none"], 3),
      (["home", "cloud", "add", "Acme", "http://acme.example", "--token-file", "/proc/version"], 2),
      (["home", "add"], 2), (["room", "add", "Den", "--home", "Cabin"], 3),
    ] as [([String], Int32)])
  func exitsWithDocumentedCode(_ arguments: [String], status: Int32) async throws {
    let hearth = Hearth()
    #expect(try await hearth.run(arguments).status == status)
  }

  @Test func printsErrorsAsJSON() async throws {
    let hearth = Hearth()
    let result = try await hearth("on", "lamp", "--json")
    #expect(result.status == 3)
    #expect(result.errors.isEmpty)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(object["ok"] as? Bool == false)
    let error = try #require(object["error"] as? [String: Any])
    #expect(error["code"] as? String == "notFound")
    let usage = try await hearth("level", "--json")
    #expect(usage.status == 2)
    #expect(usage.output.hasPrefix(#"{"ok":false,"error":{"code":"badArguments""#))
  }

  @Test func printsSchemaAsJSON() async throws {
    let hearth = Hearth()
    let result = try await hearth("schema", "levelControl", "--json")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    let data = try #require(object["data"] as? [String: Any])
    let cluster = try #require((data["clusters"] as? [[String: Any]])?.first)
    #expect(cluster["id"] as? Int == 8)
    let attributes = try #require(cluster["attributes"] as? [[String: Any]])
    let level = try #require(attributes.first)
    #expect(level["name"] as? String == "CurrentLevel")
    #expect((level["type"] as? [String: Any])?["type"] as? String == "uint8")
    let text = try await hearth("schema", "levelControl").output
    #expect(text.hasPrefix("LevelControl 0x0008, revision 6\n"))
    for part in ["Lighting", "Level uint8, TransitionTime uint16 or null", "0 Up, 1 Down", "CONFORMANCE"] {
      #expect(text.contains(part), "\(part)")
    }
    let all = try await hearth("schema", "--json").output
    let schema = try #require(try JSONSerialization.jsonObject(with: Data(all.utf8)) as? [String: Any])
    let count = ((schema["data"] as? [String: Any])?["clusters"] as? [Any])?.count ?? 0
    let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md")
    #expect(try String(contentsOf: readme, encoding: .utf8).contains("by number; \(count) have names"))
    #expect(try await hearth("schema", "laundryWasherMode").output.contains("16384 Normal"))
    #expect(try await hearth("schema", "rvcRunMode", "--json").output.contains(#""name":"Mapping""#))
  }

  @Test func separatesResultsAndMessages() async throws {
    let hearth = Hearth()
    let made = try await hearth("code", "make", "--passcode", "20202021", "--discriminator", "3840", "--json")
    #expect(made.output.contains(#""qrCode":"MT:"#))
    #expect(made.errors.isEmpty)
    let wrong = try await hearth("on", "lamp")
    #expect(wrong.output.isEmpty)
    #expect(wrong.errors.hasPrefix("hearth: "))
    #expect(try await hearth("room", "add", "Attic").output == "added Attic\n")
    #expect(try await hearth("rooms").output == "ROOM   DEVICES\nAttic  –\n")
  }

  @Test func storesGraceTime() async throws {
    let hearth = Hearth()
    #expect(try await hearth("home", "grace").output == "0 s\n")
    #expect(try await hearth("home", "grace", "30s").output == "30 s\n")
    #expect(try await hearth("home", "grace", "--json").output.contains(#""data":{"graceMilliseconds":30000}"#))
    #expect(try await hearth("home", "grace", "0s").output == "0 s\n")
    #expect(try await hearth("home", "grace").output == "0 s\n")
  }

  @Test func managesHomesAndPrimaryHome() async throws {
    let hearth = Hearth()
    #expect(try await hearth("home", "add", "Flat").output == "added Flat\n")
    #expect(try await hearth("home", "add", "Cabin", "--json").output.contains(#""name":"Cabin","primary":false"#))
    #expect(try await hearth("home", "add", "FLAT").status == 2)
    #expect(try await hearth("home", "primary").output == "Flat\n")
    #expect(try await hearth("room", "add", "Den").status == 0)
    #expect(try await hearth("room", "add", "Porch", "--home", "cabin").status == 0)
    #expect(try await hearth("home", "primary", "cabin").output == "Cabin is now the primary home\n")
    #expect(try await hearth("home", "primary", "--json").output.contains(#""name":"Cabin","primary":true"#))
    #expect(try await hearth("room", "add", "Attic").status == 0)
    #expect(
      try await hearth("home", "list").output == """
        HOME   PRIMARY  ROOMS         DEVICES
        Flat   –        Den           –
        Cabin  yes      Porch, Attic  –

        """)
    let list = try await hearth("home", "list", "--json").output
    #expect(list.contains(#""name":"Flat","primary":false,"rooms":["Den"],"devices":[]"#))
    #expect(try await hearth("home", "rename", "cabin", "Hut").output == "Cabin is now Hut\n")
    #expect(try await hearth("home", "remove", "hut", "--json").output.contains(#""name":"Hut","primaryHome":"Flat""#))
    #expect(try await hearth("home", "primary").output == "Flat\n")
    #expect(try await hearth("watch", "--since", "nothing").status == 2)
  }
}
