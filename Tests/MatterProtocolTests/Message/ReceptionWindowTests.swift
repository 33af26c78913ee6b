import Testing

@testable import MatterProtocol

@Suite struct ReceptionWindowTests {
  /// The window under test takes a step in each line, so it is boxed.
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
  func eachCounterIsNewOnce(mode: ReceptionWindow.Mode) {
    let window = window(mode, 100)
    #expect(!window.accept(100))
    for counter: UInt32 in [101, 105, 103, 104, 102, 99, 80, 200, 190, 168] {
      #expect(window.accept(counter), "\(counter)")
      #expect(!window.accept(counter), "\(counter)")
    }
    #expect(window.maximum == 200)
  }

  @Test func theEdgeOfTheWindow() {
    let window = window(.secured, 1000)
    #expect(window.accept(968))
    #expect(!window.accept(967))
    #expect(window.accept(1001))
    #expect(!window.accept(968))
    #expect(window.accept(969))
    // A jump by exactly the window's size keeps the old maximum in sight, by one more it does not.
    #expect(window.accept(1033))
    #expect(!window.accept(1001))
    #expect(window.accept(1066))
    #expect(!window.accept(1033))
    #expect(window.accept(1034))
  }

  @Test func securedCountersNeverWrap() {
    let window = window(.secured, .max - 1, .max)
    #expect(!window.accept(0))
    #expect(!window.accept(1))
    #expect(!window.accept(.max))
    #expect(window.accept(.max - 2))
    #expect(window.maximum == .max)
  }

  @Test func groupCountersWrap() {
    let window = window(.group, .max - 1, 0)
    #expect(window.accept(.max))
    #expect(!window.accept(.max))
    #expect(!window.accept(.max - 1))
    #expect(window.accept(5))
    #expect(window.accept(.max - 20))
    #expect(!window.accept(.max - 40))
    #expect(window.maximum == 5)
    // Half of the range ahead is ahead, one more is behind.
    #expect(window.accept(5 + (1 << 31) - 1))
    #expect(!window.accept(5))
  }

  /// Who begins anew in the clear begins with any counter. § 4.6.5.3.
  @Test func unsecuredCountersMayBeginAnew() {
    let window = window(.unsecured, 5000)
    #expect(window.accept(4968))
    #expect(!window.accept(4968))
    #expect(window.accept(4967))
    #expect(window.maximum == 4967)
    #expect(!window.accept(4967))
    #expect(window.accept(5000))
  }

  @Test func unsecuredCountersWrap() {
    let window = window(.unsecured, .max - 2, .max, 0, 3)
    #expect(!window.accept(.max))
    #expect(window.accept(.max - 1))
    #expect(window.accept(1))
    #expect(window.accept(2))
    #expect(!window.accept(0))
    #expect(window.maximum == 3)
    // Far behind, by way of zero.
    #expect(window.accept(.max - 100))
    #expect(window.maximum == UInt32.max - 100)
    #expect(!window.accept(.max - 100))
    #expect(window.accept(3))
  }
}
