internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension CommandData {
  /// Whether the command only reads, or names the final state, so that a node that carries it out twice is in the same state as after
  /// once. False for commands that depend on the present state, and for all unknown ones.
  var isIdempotent: Bool {
    switch path.cluster {
    case OnOff.id: path.command != OnOff.toggle.id
    case LevelControl.id: ![LevelControl.step.id, LevelControl.stepWithOnOff.id].contains(path.command)
    case ColorControl.id:
      ![
        ColorControl.stepHue.id, ColorControl.stepSaturation.id, ColorControl.stepColor.id,
        ColorControl.stepColorTemperature.id, ColorControl.enhancedStepHue.id,
      ].contains(path.command)
    case WindowCovering.id, Identify.id: true
    case DoorLock.id: [DoorLock.lockDoor.id, DoorLock.unlockDoor.id].contains(path.command)
    case Groups.id: [Groups.viewGroup.id, Groups.getGroupMembership.id].contains(path.command)
    case ScenesManagement.id:
      [
        ScenesManagement.recallScene.id, ScenesManagement.storeScene.id, ScenesManagement.viewScene.id,
        ScenesManagement.getSceneMembership.id,
      ].contains(path.command)
    default: false
    }
  }
}
