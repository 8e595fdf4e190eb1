import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.vm.asm.VmAssembler;

/** Started by ModulePathTest on the module path. */
class UsesNamedModule {
    public static void main(String[] args) {
        byte[] program = VmAssembler.assemble("""
                vm.module @m version 0
                vm.func @twice(%i0: i32) -> (i32) {
                ^bb0:
                  %i0 = vm.add.i32 %i0, %i0
                  vm.return %i0
                }
                vm.export @twice
                """);
        try (var runtime = IreeRuntime.create();
                var loaded = runtime.load(
                        ProgramOptions.builder().module("m.vmfb", program).build());
                var results = loaded.function("twice").invoke(21)) {
            System.out.println(IreeRuntime.class.getModule().getName());
            System.out.println(runtime.devices().size() + " device");
            System.out.println("native: " + IreeRuntime.nativeUnavailabilityCause());
            System.out.println(results.get(0));
        }
    }
}
