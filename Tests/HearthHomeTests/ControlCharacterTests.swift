import HearthHome
import HomeModel
import MatterModel
import Testing

/// Control characters are rejected in names and escaped in output.
@Suite("Control characters") struct ControlCharacterTests {
  @Test func rejectsControlCharactersInNames() throws {
    for name in [
      "a\u{1B}[2J", "a\u{07}b", "a\u{9B}2Jb", "a\tb", "a\u{7F}b", "a\u{202E}b", "a\nb", "a\u{2028}b", "\u{0}",
    ] {
      let error = failure { () throws(HomeError) in _ = try HomeNames.checked(name) }
      #expect(error?.code == .badArguments, "\(name.shown())")
      #expect(error?.message.unicodeScalars.contains(where: \.isControl) == false)
    }
    let error = failure { () throws(HomeError) in _ = try HomeNames.checked("a\u{1B}[2J") }
    #expect(error?.message == "a name can't have the control character U+001B in it")
    #expect(
      failure { () throws(HomeError) in _ = try HomeNames.checked("a\nb") }?.message.contains("a new line") == true)
    // For devices, rooms, structures and clients.
    let home = Samples.state()
    let bad = "x\u{1B}c"
    #expect(failure { () throws(HomeError) in _ = try home.renamingDevice("1", to: bad) }?.code == .badArguments)
    #expect(
      failure { () throws(HomeError) in _ = try home.addingRoom(bad, to: "home", id: "r") }?.code == .badArguments)
    #expect(failure { () throws(HomeError) in _ = try home.addingStructure(bad, id: "s") }?.code == .badArguments)
    // Joiners of emoji sequences and right-to-left text are allowed.
    for name in ["👩‍👩‍👧", "חדר", "Küche", "居間"] { #expect(try HomeNames.checked(name).name == name) }
    // Control characters are removed from the name that a device reports.
    #expect(HomeNames.allowed("La\u{1B}mp") == "La mp" && HomeNames.allowed("\u{1B}") == nil)
  }

  @Test func escapesControlCharactersInOutput() {
    #expect("Lamp".shown() == "Lamp" && "a\u{1B}[2J\u{9B}b".shown() == "a<U+001B>[2J<U+009B>b")
    #expect("a\nb\tc".shown() == "a<U+000A>b<U+0009>c" && "a\nb\tc\r".shown(lines: true) == "a\nb\tc<U+000D>")
    #expect("{\"a\u{9B}\": \"\u{202E}é\"}\n".shownAsJSON() == "{\"a\\u009b\": \"\\u202eé\"}\n")
  }
}
