import Testing

@testable import MatterProtocol

@Suite struct ReceptionWindowTests {
  /// A reference to a window, so that expectations can call its mutating method.
  private final class Box {
    var window: ReceptionWindow
    init(_ window: ReceptionWindow) { self.window = window }
    func accept(_ counter: UInt32) -> Bool { window.accept(counter) }
    var maximum: UInt32? { window.maximum }
  }

  private func window(_ mode: ReceptionWindow.Mode, _ counters: UInt32...) -> Box {
    let window = Box(ReceptionWindow(mode: mode))
    for counter in counters {
      let isNew = window.accept(counter)
      #expect(isNew, "\(counter)")
    }
    return window
  }

  @Test(arguments: [ReceptionWindow.Mode.secured, .group, .unsecured])
  func acceptsEachCounterOnce(mode: ReceptionWindow.Mode) {
    let window = window(mode, 100)
    #expect(!window.accept(100))
    for counter: UInt32 in [101, 105, 103, 104, 102, 99, 80, 200, 190, 168] {
      #expect(window.accept(counter), "\(counter)")
      #expect(!window.accept(counter), "\(counter)")
    }
    #expect(window.maximum == 200)
  }

  @Test func rejectsCountersBehindWindow() {
    let window = window(.secured, 1000)
    #expect(window.accept(968))
    #expect(!window.accept(967))
    #expect(window.accept(1001))
    #expect(!window.accept(968))
    #expect(window.accept(969))
    // A jump by exactly the size of the window keeps the old maximum in the window; a larger jump does not.
    #expect(window.accept(1033))
    #expect(!window.accept(1001))
    #expect(window.accept(1066))
    #expect(!window.accept(1033))
    #expect(window.accept(1034))
  }

  @Test func rejectsWrappedSecuredCounters() {
    let window = window(.secured, .max - 1, .max)
    #expect(!window.accept(0))
    #expect(!window.accept(1))
    #expect(!window.accept(.max))
    #expect(window.accept(.max - 2))
    #expect(window.maximum == .max)
  }

  @Test func wrapsGroupCounters() {
    let window = window(.group, .max - 1, 0)
    #expect(window.accept(.max))
    #expect(!window.accept(.max))
    #expect(!window.accept(.max - 1))
    #expect(window.accept(5))
    #expect(window.accept(.max - 20))
    #expect(!window.accept(.max - 40))
    #expect(window.maximum == 5)
    // A counter less than half of the range ahead is new; one further ahead counts as behind.
    #expect(window.accept(5 + (1 << 31) - 1))
    #expect(!window.accept(5))
  }

  /// A restarted peer continues with any counter in unsecured messages. § 4.6.5.3.
  @Test func acceptsRestartedUnsecuredCounter() {
    let window = window(.unsecured, 5000)
    #expect(window.accept(4968))
    #expect(!window.accept(4968))
    #expect(window.accept(4967))
    #expect(window.maximum == 4967)
    #expect(!window.accept(4967))
    #expect(window.accept(5000))
  }

  @Test func wrapsUnsecuredCounters() {
    let window = window(.unsecured, .max - 2, .max, 0, 3)
    #expect(!window.accept(.max))
    #expect(window.accept(.max - 1))
    #expect(window.accept(1))
    #expect(window.accept(2))
    #expect(!window.accept(0))
    #expect(window.maximum == 3)
    // Far behind, across zero.
    #expect(window.accept(.max - 100))
    #expect(window.maximum == UInt32.max - 100)
    #expect(!window.accept(.max - 100))
    #expect(window.accept(3))
  }
}
