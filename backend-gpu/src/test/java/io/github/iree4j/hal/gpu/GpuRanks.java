package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.contract.Participants;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Devices without hardware for the participants of collectives: one device each, opened on the first request. */
final class GpuRanks implements Participants {
    private final GpuDrivers driver;
    private final List<StreamDevice> opened = new ArrayList<>();

    GpuRanks(Path directory, GpuKind kind, String settings) {
        this.driver = GpuDrivers.fake(directory, kind, "devices=" + COUNT + " " + settings);
    }

    @Override
    public StreamDevice device(int rank) {
        while (opened.size() <= rank) {
            opened.add(driver.open(Integer.toString(opened.size())));
        }
        return opened.get(rank);
    }

    FakeGpu library() {
        return Objects.requireNonNull(driver.library());
    }

    GpuDrivers driver() {
        return driver;
    }

    /** The content of the libraries. */
    static boolean has(Collective operation) {
        boolean reduces = operation.reduction() != Collective.NONE;
        boolean isShort = operation.elementType() == Collective.S16 || operation.elementType() == Collective.U16;
        return !(reduces && isShort
                || operation.reduction() == Collective.AVERAGE && operation.elementType() < Collective.F16);
    }

    @Override
    public void close() {
        for (StreamDevice each : opened) {
            each.close(); // participants are told of a failure before their memory is unused
            assertThat(each.allocator().statistics().bytesLive()).isZero();
            GpuDrivers.assertNothingLeft(each);
        }
        driver.assertNothingToComplainOf();
    }
}
