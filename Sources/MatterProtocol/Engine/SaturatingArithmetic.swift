extension FixedWidthInteger {
  /// Adds, clamping to the range of the type. For numbers from peers, files and databases.
  @inlinable public func saturatingAdd(_ other: Self) -> Self {
    let (result, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : result
  }

  /// Subtracts, clamping to the range of the type. For numbers from peers, files and databases.
  @inlinable public func saturatingSubtract(_ other: Self) -> Self {
    let (result, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : result
  }

  /// Multiplies, clamping to the range of the type. For numbers from peers, files and databases.
  @inlinable public func saturatingMultiply(_ other: Self) -> Self {
    let (result, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : result
  }
}
