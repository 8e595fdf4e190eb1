package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.Map;

/** A driver with streams as tests need it, over a library without hardware or over the machine's. */
public interface TestDriver {
    /** Opens its first device; the caller closes it. */
    StreamDevice open(DeviceOptions.Builder options);

    /** Has its hardware complete nothing until {@link #goOn}. A machine's does not obey. */
    void hang();

    /** Ends {@link #hang}. */
    void goOn();

    /** Has the library report its devices as lost from now on. Only without hardware. */
    void lose();

    /** Fails when the library was misused. */
    void assertNothingToComplainOf();

    /** Native objects of one of its devices, by kind. */
    Map<String, Long> liveObjects(StreamDevice device);
}
