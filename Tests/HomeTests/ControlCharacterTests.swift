import MatterModel
import Testing

@testable import Home

/// What would have a terminal do something is in no name, and is shown as what it is.
@Suite("Control characters") struct ControlCharacterTests {
  @Test func namesHaveNone() throws {
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
      failure { () throws(HomeError) in _ = try home.addingRoom(bad, id: "r", in: "home") }?.code == .badArguments)
    #expect(failure { () throws(HomeError) in _ = try home.addingStructure(bad, id: "s") }?.code == .badArguments)
    // What joins the parts of a picture, and what is not written from the left, is no such thing.
    for name in ["👩‍👩‍👧", "חדר", "Küche", "居間"] { #expect(try HomeNames.checked(name).name == name) }
    // A device that calls itself so has the rest of its name.
    #expect(HomeNames.allowed("La\u{1B}mp") == "La mp" && HomeNames.allowed("\u{1B}") == nil)
  }

  @Test func whatDevicesSayIsShownAsLetters() {
    #expect("Lamp".shown() == "Lamp" && "a\u{1B}[2J\u{9B}b".shown() == "a<U+001B>[2J<U+009B>b")
    #expect("a\nb\tc".shown() == "a<U+000A>b<U+0009>c" && "a\nb\tc\r".shown(lines: true) == "a\nb\tc<U+000D>")
    #expect("{\"a\u{9B}\": \"\u{202E}é\"}\n".shownAsJSON() == "{\"a\\u009b\": \"\\u202eé\"}\n")
  }
}
