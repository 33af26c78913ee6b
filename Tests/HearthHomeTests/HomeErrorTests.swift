import Foundation
import HearthHome
import HomeModel
import MatterController
import MatterModel
import Testing

@Suite("Errors") struct HomeErrorTests {
  @Test func localizedDescriptionIsDescription() {
    let error: any Error = HomeError(.unreachable, "unreachable", device: "lamp")
    #expect(error.localizedDescription == "lamp: unreachable")
  }

  @Test func createsErrorsByName() {
    let errors: [HomeError] = [.notFound("no light"), .internal("no device")]
    #expect(errors.map(\.code) == [.notFound, .internalError] && errors.map(\.message) == ["no light", "no device"])
  }

  @Test func namesDeviceStatus() {
    let refused = HomeError(Status(.constraintError))
    #expect(refused.code == .refused)
    #expect(refused.message.contains("CONSTRAINT_ERROR"))
    #expect(HomeError(Status(.unsupportedAccess)).code == .accessDenied)
  }

  @Test func namesCommissioningStep() {
    let failed = HomeError(ControllerError.commissioningFailed(.addCertificate, .status(Status(.failure))))
    #expect(failed.code == .commissioningFailed)
    #expect(failed.message.contains("addCertificate"))
    #expect(failed.message.contains("FAILURE"))
    #expect(HomeError(ControllerError.commissioningFailed(.discover, .notFound)).code == .notFound)
  }
}
