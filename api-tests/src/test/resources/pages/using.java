package pages;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakCheck;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.schedule.SpeculationScope;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.Import;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.module.ReferenceType;
import java.nio.file.Path;

class Calls {
    void call(float[] values) {
        // fence 1
    }

    void leaks(IreeRuntime runtime, Service service, Object image) {
        // fence 2
    }

    void submit(IreeRuntime runtime, ProgramFunction fn0, ProgramFunction fn1, ProgramFunction fn2, Tensor x) {
        // fence 3
    }

    interface Service {
        void classify(Object image);
    }
}

abstract class Speculation {
    abstract boolean checksOut();

    void speculate(
            Device device,
            Timeline tokens,
            Fence d1,
            Fence d2,
            Fence v1,
            CommandBuffer guess,
            CommandBuffer guessMore,
            CommandBuffer check,
            BindingTable table) {
        // fence 4
    }
}

class Modules {
    private final IreeRuntime runtime;
    private final Path file;

    Modules(IreeRuntime runtime, Path file) {
        this.runtime = runtime;
        this.file = file;
    }

    void load() {
        // fence 5
    }
}

class CallingPrograms {
    record Step(Tensor state) {}

    // fence 6
}
