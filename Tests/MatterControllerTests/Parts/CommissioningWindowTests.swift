import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// The command that opens a commissioning window.
@Suite struct CommissioningWindowTests {
  private func open(
    _ request: CommissioningWindowRequest, of record: PeerRecord? = nil, seed: UInt64 = 1
  ) throws -> (window: CommissioningWindow, command: CommandData, next: UInt64) {
    var random: any RandomSource = SeededRandomSource(seed: seed)
    let (window, command) = try request.window(of: record, random: &random)
    return (window, command, random.next())
  }

  @Test("a basic window has no code and draws no random number") func basic() throws {
    let (window, command, next) = try open(CommissioningWindowRequest(duration: .seconds(200), isEnhanced: false))
    #expect(window == CommissioningWindow(kind: .basic, duration: .seconds(200), code: nil))
    #expect(command.path == AdministratorCommissioning.openBasicCommissioningWindow.path(on: .root))
    var random = SeededRandomSource(seed: 1)
    #expect(next == random.next())
  }

  @Test("an enhanced window has the given values in its code") func enhanced() throws {
    var request = CommissioningWindowRequest()
    (request.passcode, request.discriminator, request.salt) = (20_202_021, 0xABC, [UInt8](repeating: 1, count: 16))
    var record = PeerRecord(1)
    (record.vendorID, record.productID) = (0xFFF1, 0x8001)
    let (window, command, _) = try open(request, of: record)
    #expect(window.kind == .enhanced(passcode: 20_202_021, discriminator: 0xABC))
    #expect(window.code?.passcode == 20_202_021 && window.code?.discriminator == .long(0xABC))
    #expect(window.code?.vendorID == 0xFFF1 && window.code?.productID == 0x8001)
    let fields = try AdministratorCommissioning.OpenCommissioningWindowRequest(tlv: command.fields ?? [])
    #expect(fields.commissioningTimeout == 180 && fields.salt.bytes == request.salt && fields.iterations == 1000)
  }

  @Test("draws missing values, others for each window") func drawsValues() throws {
    let windows = try (1...20).map { try open(CommissioningWindowRequest(), seed: $0).window }
    #expect(Set(windows.compactMap { $0.code?.passcode }).count == 20)
    #expect(windows.allSatisfy { SetupPasscode.isValid($0.code?.passcode ?? 0) })
  }

  @Test func rejectsValuesOutOfRange() {
    let changes: [(inout CommissioningWindowRequest) -> Void] = [
      { $0.passcode = 12_345_678 }, { $0.discriminator = 0x1000 }, { $0.iterations = 999 }, { $0.iterations = 100_001 },
      { $0.salt = [UInt8](repeating: 0, count: 15) }, { $0.salt = [UInt8](repeating: 0, count: 33) },
    ]
    for change in changes {
      var request = CommissioningWindowRequest()
      change(&request)
      #expect(throws: ControllerError.self) { try open(request) }
    }
  }
}
