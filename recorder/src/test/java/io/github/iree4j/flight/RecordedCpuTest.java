package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The flight recorder on the CPU. */
@Timeout(300)
class RecordedCpuTest {
    @Test
    void fillsCopiesAndDispatchesAreRecordedFromTheirSubmissionToTheirEnd() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(12, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
        try (Device device = new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
                Executable kernels = JavaKernels.load(device);
                Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 8);
                Buffer target = device.allocator().allocate(BufferParams.DEFAULT, 8);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence one = Fence.at(timeline, 1);
                Fence two = Fence.at(timeline, 2);
                Fence three = Fence.at(timeline, 3);
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            device.queue(0).fill(null, one, source, 0, 8, 5, 4, 0);
            device.queue(0).copy(one, two, source, 0, target, 0, 8, 0);
            BindingTable both = BindingTable.of(source, target);
            DispatchConfig grid = DispatchConfig.of(2, 1, 1);
            device.queue(0).dispatch(two, three, kernels, JavaKernels.SCALE, grid, new int[] {2, 1}, both, 0);
            three.await();
            List<RecordedOperation> all = List.of();
            while (all.size() < 3
                    || all.getLast().overAt() == RecordedOperation.NEVER) { // the record follows the signal
                all = new OperationGraph(recorder.recording()).operations();
            }
            assertThat(all).extracting(RecordedOperation::name).containsExactly("fill", "copy", "dispatch");
            assertThat(all).allSatisfy(each -> {
                assertThat(each.status()).isEqualTo(StatusCode.OK);
                assertThat(each.submittedAt()).isLessThanOrEqualTo(each.completedAt());
                assertThat(each.completedAt()).isLessThanOrEqualTo(each.overAt());
                assertThat(each.epoch()).isPositive();
            });
        }
    }

    @Test
    void operationRunByItsSubmitterIsSubmittedDecidedAndIssuedInTheSameMoment() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(12, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
        try (Device device = new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
                TimelineSemaphore timeline = TimelineSemaphore.create(1);
                Fence one = Fence.at(timeline, 1);
                Fence two = Fence.at(timeline, 2);
                Fence three = Fence.at(timeline, 3);
                Fence four = Fence.at(timeline, 4);
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            device.queue(0).barrier(one, two, 0);
            device.queue(0).barrier(three, four, 0); // held back: reported at once
            timeline.signal(3);
            four.await();
            List<FlightEvent> events = List.of();
            while (events.isEmpty() || !(events.getLast() instanceof FlightEvent.Over)) { // behind the signal
                events = recorder.recording().events().stream()
                        .filter(each -> !(each instanceof FlightEvent.PoolsHold))
                        .toList();
            }
            assertThat(events)
                    .extracting(each -> each.getClass().getSimpleName())
                    .containsExactly(
                            "Submitted",
                            "Decided",
                            "Issued",
                            "Completed",
                            "Over",
                            "Submitted",
                            "Decided",
                            "WaitOver",
                            "Decided",
                            "Issued",
                            "Completed",
                            "Over");
            assertThat(events.subList(0, 3))
                    .extracting(FlightEvent::time)
                    .containsOnly(events.getFirst().time());
            assertThat(((FlightEvent.Decided) events.get(1))
                            .decisions()
                            .getFirst()
                            .decision())
                    .isEqualTo(WaitDecision.REACHED);
        }
    }
}
