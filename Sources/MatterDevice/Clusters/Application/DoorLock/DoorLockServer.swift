import MatterClusters
import MatterModel

/// The Door Lock server: a motor lock with a keypad, an RFID reader, a latch and a door position sensor.
/// Application Clusters § 5.2.
///
/// A bolt takes time, and users, credentials and schedules are stored. A key sets LockState, the door DoorState. The parts
/// without an attribute are the keypad (a code), the reader (an RFID code in hexadecimal), the button that locks, and the
/// bolt, which may be blocked.
public enum DoorLockServer {
  private static let features: [Feature] = [
    DoorLock.pinCredential, DoorLock.rfidCredential, DoorLock.weekDayAccessSchedules, DoorLock.doorPositionSensor,
    DoorLock.credentialsOverTheAirAccess, DoorLock.user, DoorLock.yearDayAccessSchedules, DoorLock.holidaySchedules,
    DoorLock.unbolt,
  ]

  /// Returns the server, locked and with a closed door.
  public static func make() -> ClusterServer {
    let server = settings(capacities(ClusterServer(DoorLock.self, features: features)))
      .initial(DoorLock.lockState, .value(.locked)).storing(DoorLock.lockState)
      .initial(DoorLock.doorState, .value(.doorClosed)).storing(DoorLock.doorState)
      .initial(DoorLock.lockType, .mortise)
      .initial(DoorLock.actuatorEnabled, true)
      .storing(DoorLock.doorOpenEvents)
      .storing(DoorLock.doorClosedEvents)
    return LockOperations.add(to: LockSchedules.add(to: LockUserCommands.add(to: server)))
  }

  private static func capacities(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(DoorLock.numberOfTotalUsersSupported, 10)
      .initial(DoorLock.numberOfPINUsersSupported, 10)
      .initial(DoorLock.numberOfRFIDUsersSupported, 10)
      .initial(DoorLock.numberOfCredentialsSupportedPerUser, 5)
      .initial(DoorLock.numberOfWeekDaySchedulesSupportedPerUser, 5)
      .initial(DoorLock.numberOfYearDaySchedulesSupportedPerUser, 5)
      .initial(DoorLock.numberOfHolidaySchedulesSupported, 5)
      .initial(DoorLock.minPINCodeLength, 4)
      .initial(DoorLock.maxPINCodeLength, 8)
      .initial(DoorLock.minRFIDCodeLength, 4)
      .initial(DoorLock.maxRFIDCodeLength, 20)
      .limiting(DoorLock.minPINCodeLength, to: DoorLock.maxPINCodeLength)
      .limiting(DoorLock.maxPINCodeLength, from: DoorLock.minPINCodeLength)
      .limiting(DoorLock.minRFIDCodeLength, to: DoorLock.maxRFIDCodeLength)
      .limiting(DoorLock.maxRFIDCodeLength, from: DoorLock.minRFIDCodeLength)
      .initial(DoorLock.credentialRulesSupport, .single)
  }

  private static func settings(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(DoorLock.language, "en").storing(DoorLock.language)
      .initial(DoorLock.ledSettings, .ledSignalAll).storing(DoorLock.ledSettings)
      .initial(DoorLock.soundVolume, .low).storing(DoorLock.soundVolume)
      .initial(DoorLock.enableOneTouchLocking, true).storing(DoorLock.enableOneTouchLocking)
      .initial(DoorLock.autoRelockTime, 0).storing(DoorLock.autoRelockTime)
      // All modes: a bit that is set means “not supported”.
      .initial(DoorLock.supportedOperatingModes, .init(rawValue: 0xFFE0))
      .initial(DoorLock.operatingMode, .normal).storing(DoorLock.operatingMode)
      .onWrite(DoorLock.operatingMode) { context, mode throws(StatusError) in
        guard supports(mode, &context) else { throw StatusError(.constraintError) }
      }
      .onAct(DoorLock.operatingMode) { context, mode throws(StatusError) in
        guard supports(mode, &context) else { throw StatusError(.constraintError) }
        context[DoorLock.operatingMode] = mode
      }
      .initial(DoorLock.wrongCodeEntryLimit, 5).storing(DoorLock.wrongCodeEntryLimit)
      .initial(DoorLock.userCodeTemporaryDisableTime, 60).storing(DoorLock.userCodeTemporaryDisableTime)
      .storing(DoorLock.requirePINforRemoteOperation)
      .initial(DoorLock.expiringUserTimeout, 1440).storing(DoorLock.expiringUserTimeout)
  }

  static func supports(_ mode: DoorLock.OperatingMode, _ context: inout ServerContext) -> Bool {
    mode.isKnown && context[DoorLock.supportedOperatingModes].rawValue >> UInt16(mode.rawValue) & 1 == 0
  }
}
