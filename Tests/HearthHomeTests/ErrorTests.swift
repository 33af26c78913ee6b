import Foundation
import HearthHome
import HomeModel
import HomeStore
import MatterController
import MatterModel
import MatterProtocol
import Runtime
import Testing

@Suite("Home errors") struct ErrorTests {
  @Test("names the searched interfaces if a device is not found") func searched() {
    let errors: [ControllerError] = [
      .notFound, .unreachable, .commissioningFailed(.discover, .notFound), .commissioningFailed(.discover, .timedOut),
    ]
    for error in errors {
      #expect(HomeError(error, searched: .named(["eth0", "wlan0"])).message.hasSuffix(" (searched: eth0, wlan0)"))
      #expect(HomeError(error, searched: .all).message.hasSuffix(" (searched: all interfaces)"))
      let onLoopback = HomeError(error, searched: .loopback)
      #expect(onLoopback.message.hasSuffix(" (searched: loopback only)"))
      #expect(onLoopback.hint?.hasPrefix("--interface NAME") == true)
      #expect(!HomeError(error).message.contains("searched"))
    }
    #expect(!HomeError(ControllerError.timedOut, searched: .all).message.contains("searched"))
  }

  @Test("keeps the options of the command line apart from the message") func hints() throws {
    let refused = StatusReport(.failure, .noSharedTrustRoots)
    for error in [
      ControllerError.timedOut, .asleep(longest: .seconds(60)), .handshake(.refused(refused)),
      .commissioningFailed(.connectByPasscode, .timedOut),
    ] {
      let error = HomeError(error)
      let hint = try #require(error.hint)
      #expect(!error.description.contains("--") && hint.contains("--"))
      #expect(error.messageAndHint == "\(error.message); \(hint)")
      let decoded = try JSONDecoder().decode(HomeError.self, from: JSONEncoder().encode(error))
      #expect(decoded.hint == hint)
    }
    #expect(HomeError(ControllerError.busy).hint == nil)
  }

  @Test("names cluster-specific statuses") func clusterStatuses() {
    let busy = HomeError(Status(.failure, clusterCode: 2), of: 0x003C)
    #expect(busy.message == "the device refused: Busy (FAILURE, cluster status 2)")
    #expect(HomeError(Status(.failure, clusterCode: 3), of: 0x0101).message.contains(": Occupied (FAILURE"))
    #expect(HomeError(Status(.failure, clusterCode: 9), of: 0x003C).message.hasSuffix("FAILURE (cluster status 9)"))
    let fault = HomeError(Status(.failure, clusterCode: 2), of: 0x0081)
    #expect(fault.message == "the device refused: FailureDueToFault (FAILURE, cluster status 2)")
    #expect(HomeError(Status(.constraintError), of: 6).message.hasSuffix("CONSTRAINT_ERROR"))
  }
}
