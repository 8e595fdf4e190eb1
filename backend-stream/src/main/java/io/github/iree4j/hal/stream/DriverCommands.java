package io.github.iree4j.hal.stream;

/** Commands recorded by a driver, ready for submission to a lane of the same family. Opaque to all but the driver. */
public interface DriverCommands {}
