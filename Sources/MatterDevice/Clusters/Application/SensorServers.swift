internal import MatterClusters
import MatterModel
import MatterProtocol

/// The servers of sensors. Their values change as the physical device does.
public enum SensorServers {
  // MARK: States

  /// Returns a server for a binary state. Application Clusters § 1.7.
  /// - Parameter initial: The state at the start of the device.
  public static func booleanState(_ initial: Bool) -> ClusterServer {
    ClusterServer(BooleanState.self)
      .initial(BooleanState.stateValue, initial)
      .serving(BooleanState.stateChange)
      .onChange(BooleanState.stateValue) { context in
        context.emit(BooleanState.stateChange, .init(stateValue: context[BooleanState.stateValue]))
        context.call(SensorAlarmServer.stateChanged, ())
      }
  }

  /// The limits of HoldTime of ``occupancySensing()``, in seconds.
  static let holdTimes = OccupancySensing.HoldTimeLimitsStruct(
    holdTimeMin: 1, holdTimeMax: 3600, holdTimeDefault: 10)

  /// Returns a server for a passive infrared sensor. It stays occupied for HoldTime after the last detection.
  /// Application Clusters § 2.7.
  public static func occupancySensing() -> ClusterServer {
    ClusterServer(OccupancySensing.self, features: [OccupancySensing.passiveInfrared])
      .initial(OccupancySensing.occupancySensorType, .pir)
      .initial(OccupancySensing.occupancySensorTypeBitmap, .pir)
      .initial(OccupancySensing.holdTimeLimits, holdTimes)
      .initial(OccupancySensing.holdTime, holdTimes.holdTimeDefault)
      .limiting(OccupancySensing.holdTime, to: Int64(holdTimes.holdTimeMin)...Int64(holdTimes.holdTimeMax))
      .serving(OccupancySensing.occupancyChanged)
      .onChange(OccupancySensing.occupancy) { context in
        context.emit(OccupancySensing.occupancyChanged, .init(occupancy: context[OccupancySensing.occupancy]))
      }
      .onAct(OccupancySensing.occupancy) { context, occupancy in
        if occupancy.contains(.occupied) {
          context.cancel(.holdEnd)
          context[OccupancySensing.occupancy] = occupancy
        } else if context[OccupancySensing.occupancy].contains(.occupied), !context.isScheduled(.holdEnd) {
          context.schedule(.holdEnd, at: context.now + .seconds(Int64(context[OccupancySensing.holdTime])))
        }
      }
      .onTimer(.holdEnd) { context in context[OccupancySensing.occupancy] = [] }
      .onTest(0, "occupied") { context in context.act(OccupancySensing.occupancy, .occupied) }
      .onTest(1, "unoccupied") { context in context.act(OccupancySensing.occupancy, []) }
  }

  // MARK: Measurements

  /// Returns a server for an outdoor temperature from -40 °C to 85 °C. Application Clusters § 2.3.
  public static func temperature() -> ClusterServer {
    measurement(
      TemperatureMeasurement.measuredValue, 2000, from: TemperatureMeasurement.minMeasuredValue, -4000,
      to: TemperatureMeasurement.maxMeasuredValue, 8500
    ).initial(TemperatureMeasurement.tolerance, 20)
  }

  /// Returns a server for a relative humidity. Application Clusters § 2.6.
  public static func humidity() -> ClusterServer {
    measurement(
      RelativeHumidityMeasurement.measuredValue, 5000, from: RelativeHumidityMeasurement.minMeasuredValue, 0,
      to: RelativeHumidityMeasurement.maxMeasuredValue, 10_000
    ).initial(RelativeHumidityMeasurement.tolerance, 200)
  }

  /// Returns a server for an illuminance up to 100,000 lx, measured by a photodiode. Application Clusters § 2.2.
  public static func illuminance() -> ClusterServer {
    measurement(
      IlluminanceMeasurement.measuredValue, 24_772, from: IlluminanceMeasurement.minMeasuredValue, 1,
      to: IlluminanceMeasurement.maxMeasuredValue, 50_001
    ).initial(IlluminanceMeasurement.tolerance, 100)
      .initial(IlluminanceMeasurement.lightSensorType, .value(.photodiode))
      // Zero means that the light is below the minimum, so the minimum does not limit the values.
      .limiting(IlluminanceMeasurement.measuredValue, to: IlluminanceMeasurement.maxMeasuredValue)
  }

  /// Returns a server for an air pressure from 300 hPa to 1100 hPa. Application Clusters § 2.4.
  public static func pressure() -> ClusterServer {
    measurement(
      PressureMeasurement.measuredValue, 1013, from: PressureMeasurement.minMeasuredValue, 300,
      to: PressureMeasurement.maxMeasuredValue, 1100
    ).initial(PressureMeasurement.tolerance, 1)
  }

  /// Returns a server for a flow up to 10 m³/h. Application Clusters § 2.5.
  public static func flow() -> ClusterServer {
    measurement(
      FlowMeasurement.measuredValue, 0, from: FlowMeasurement.minMeasuredValue, 0,
      to: FlowMeasurement.maxMeasuredValue, 100
    ).initial(FlowMeasurement.tolerance, 1)
  }

  /// Returns a server for the moisture of soil. Application Clusters, Soil Measurement.
  public static func soilMoisture() -> ClusterServer {
    ClusterServer(SoilMeasurement.self)
      .initial(SoilMeasurement.soilMoistureMeasuredValue, .value(40))
      .initial(
        SoilMeasurement.soilMoistureMeasurementLimits,
        .init(
          measurementType: .soilMoisture, measured: true, minMeasuredValue: 0, maxMeasuredValue: 100,
          // A tenth of a percent.
          accuracyRanges: [.init(rangeMin: 0, rangeMax: 100, percentMax: 10)]))
  }

  private static func measurement<C: Cluster, Value: ModelValue & Comparable>(
    _ measured: Attribute<C, Nullable<Value>>, _ initial: Value, from lowest: Attribute<C, Nullable<Value>>,
    _ low: Value, to highest: Attribute<C, Nullable<Value>>, _ high: Value
  ) -> ClusterServer {
    ClusterServer(C.self)
      .initial(measured, .value(initial))
      .initial(lowest, .value(low))
      .initial(highest, .value(high))
      .limiting(measured, from: lowest, to: highest)
      .limiting(lowest, to: highest)
      .limiting(highest, from: lowest)
      // The range of the sensor includes the present value.
      .onAct(lowest) { context, limit throws(StatusError) in
        if let low = limit.wrapped, let present = context[measured].wrapped, low > present {
          throw StatusError(.invalidInState)
        }
        context[lowest] = limit
      }
      .onAct(highest) { context, limit throws(StatusError) in
        if let high = limit.wrapped, let present = context[measured].wrapped, high < present {
          throw StatusError(.invalidInState)
        }
        context[highest] = limit
      }
  }
}
