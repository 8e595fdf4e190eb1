package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.Map;

/** A driver with streams for tests, over a library without hardware or over the machine's. */
public interface TestDriver {
    /** Opens the first device; closed by the caller. */
    StreamDevice open(DeviceOptions.Builder options);

    /** Makes the hardware complete nothing until {@link #goOn}. A machine's does not obey. */
    void hang();

    /** Ends {@link #hang}. */
    void goOn();

    /** Makes the library report its devices as lost from now on. Only without hardware. */
    void lose();

    /** Fails when the library was misused. */
    void assertNothingToComplainOf();

    /** Native objects of a device, by kind. */
    Map<String, Long> liveObjects(StreamDevice device);
}
