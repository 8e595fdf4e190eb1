import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NativeCode;
import io.github.iree4j.ProgramOptions;
import java.nio.file.Path;
import java.util.Arrays;

/** Started by ModulePathTest on the module path, with a driver and an adding program for it. */
class UsesNamedModule {
    public static void main(String[] args) {
        try (var runtime = IreeRuntime.builder().device(args[0]).build();
                var loaded = runtime.load(
                        ProgramOptions.builder().module(Path.of(args[1])).build());
                var results = loaded.function("add").invoke(new float[] {1, 2, 3, 4}, new float[] {5, 6, 7, 8})) {
            System.out.println(IreeRuntime.class.getModule().getName());
            System.out.println("native: " + NativeCode.unavailabilityCause());
            System.out.println(Arrays.toString(results.tensor(0).toFloatArray()));
        }
    }
}
