package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.classfile.attribute.ModuleExportInfo;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the module promises to others, in a file: public types of exported packages and their public and protected members. A change of it is
 * seen in a review. {@code -Diree4j.api.write=true} writes the file anew.
 */
class PublicApiTest {
    private static final Path CLASSES = Path.of("target/classes");
    private static final Path LISTING = Path.of("src/test/resources/api/public-api.txt");

    private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString");

    private static List<ModuleExportInfo> exports() throws IOException {
        return ClassFile.of().parse(CLASSES.resolve("module-info.class")).attributes().stream()
                .filter(ModuleAttribute.class::isInstance)
                .map(ModuleAttribute.class::cast)
                .flatMap(module -> module.exports().stream())
                .toList();
    }

    private static String packageName(ModuleExportInfo export) {
        return export.exportedPackage().name().stringValue().replace('/', '.');
    }

    /** Packages exported to all, in order. */
    private static Set<String> promised() throws IOException {
        return exports().stream()
                .filter(export -> export.exportsTo().isEmpty())
                .map(PublicApiTest::packageName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<ClassModel> types(String packageName) throws IOException {
        List<ClassModel> types = new ArrayList<>();
        try (Stream<Path> files = Files.list(CLASSES.resolve(packageName.replace('.', '/')))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".class"))
                    .sorted()
                    .toList()) {
                ClassModel type = ClassFile.of().parse(file);
                if (isPromised(type)) {
                    types.add(type);
                }
            }
        }
        return types.stream();
    }

    /** Whether it is public, and so are the types around it. */
    private static boolean isPromised(ClassModel type) throws IOException {
        String name = type.thisClass().asInternalName();
        if (name.endsWith("package-info") || !isVisible(flags(type))) {
            return false;
        }
        int outer = name.lastIndexOf('$');
        return outer < 0 || isPromised(ClassFile.of().parse(CLASSES.resolve(name.substring(0, outer) + ".class")));
    }

    /** Of a nested type, those that its declaration says. */
    private static int flags(ClassModel type) {
        return type.attributes().stream()
                .filter(java.lang.classfile.attribute.InnerClassesAttribute.class::isInstance)
                .map(java.lang.classfile.attribute.InnerClassesAttribute.class::cast)
                .flatMap(inner -> inner.classes().stream())
                .filter(inner -> inner.innerClass().equals(type.thisClass()))
                .map(inner -> inner.flagsMask())
                .findFirst()
                .orElse(type.flags().flagsMask());
    }

    private static boolean isVisible(int flags) {
        return (flags & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0 && (flags & AccessFlag.SYNTHETIC.mask()) == 0;
    }

    private static String name(ClassDesc type) {
        String full = type.packageName().isEmpty() ? type.displayName() : type.packageName() + "." + type.displayName();
        return full.replace('$', '.').replace("java.lang.", "");
    }

    private static String modifiers(int flags, int without) {
        String text = Modifier.toString(flags
                & ~without
                & (Modifier.classModifiers() | Modifier.methodModifiers() | Modifier.fieldModifiers())
                & ~Modifier.SYNCHRONIZED
                & ~Modifier.NATIVE);
        return text.isEmpty() ? "" : text + " ";
    }

    private static List<String> describe(ClassModel type) {
        List<String> lines = new ArrayList<>();
        int flags = flags(type);
        boolean isInterface = (flags & Modifier.INTERFACE) != 0;
        StringBuilder head = new StringBuilder(modifiers(
                        flags, Modifier.INTERFACE | Modifier.SYNCHRONIZED | (isInterface ? Modifier.ABSTRACT : 0)))
                .append(isInterface ? "interface " : "class ")
                .append(name(type.thisClass().asSymbol()));
        type.superclass()
                .map(each -> name(each.asSymbol()))
                .filter(each -> !each.equals("Object"))
                .ifPresent(each -> head.append(" extends ").append(each));
        if (!type.interfaces().isEmpty()) {
            head.append(type.interfaces().stream()
                    .map(each -> name(each.asSymbol()))
                    .collect(Collectors.joining(", ", isInterface ? " extends " : " implements ", "")));
        }
        lines.add(head.toString());
        List<String> members = new ArrayList<>();
        type.fields().stream()
                .filter(field -> isVisible(field.flags().flagsMask()))
                .forEach(field ->
                        members.add("    " + modifiers(field.flags().flagsMask(), 0) + name(field.fieldTypeSymbol())
                                + " " + field.fieldName().stringValue()));
        type.methods().stream()
                .filter(method -> isVisible(method.flags().flagsMask()))
                .filter(method -> !OF_OBJECT.contains(method.methodName().stringValue()))
                .forEach(method -> {
                    MethodTypeDesc shape = method.methodTypeSymbol();
                    String called = method.methodName().stringValue();
                    members.add("    " + modifiers(method.flags().flagsMask(), Modifier.TRANSIENT | Modifier.VOLATILE)
                            + (called.equals("<init>") ? "new" : name(shape.returnType()) + " " + called)
                            + shape.parameterList().stream()
                                    .map(PublicApiTest::name)
                                    .collect(Collectors.joining(", ", "(", ")")));
                });
        members.stream().sorted().forEach(lines::add);
        return lines;
    }

    private static List<String> listing() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String each : promised()) {
            lines.add("package " + each);
            types(each).flatMap(type -> describe(type).stream()).forEach(lines::add);
        }
        return lines;
    }

    @Test
    void theListingSaysWhatIsPromised() throws IOException {
        List<String> now = listing();
        if (Boolean.getBoolean("iree4j.api.write")) {
            Files.write(LISTING, now);
        }
        List<String> before = Files.readAllLines(LISTING);
        List<String> gone = new ArrayList<>(before);
        gone.removeAll(now);
        List<String> come = new ArrayList<>(now);
        come.removeAll(before);
        assertThat(now)
                .as(
                        "the public promise: gone %s, new %s; where that is wanted, run this test with -Diree4j.api.write=true and say so"
                                + " in the commit",
                        gone, come)
                .isEqualTo(before);
    }

    @Test
    void noPromisedTypeNeedsOneThatIsNot() throws IOException {
        Set<String> promised = promised();
        Set<String> missing = new TreeSet<>();
        for (String line : listing()) {
            for (String word : line.split("[ (),\\[\\]]+")) {
                int type = word.startsWith("io.github.iree4j.") ? firstType(word) : -1;
                if (type > 0 && !promised.contains(word.substring(0, type)) && isOurs(word.substring(0, type))) {
                    missing.add(word);
                }
            }
        }
        assertThat(missing)
                .as("types in the listing whose packages are not exported to all")
                .isEmpty();
    }

    /** Whether the package is one of this module. */
    private static boolean isOurs(String packageName) {
        String[] classes =
                CLASSES.resolve(packageName.replace('.', '/')).toFile().list((_, name) -> name.endsWith(".class"));
        return classes != null && classes.length > 0;
    }

    /** Where the package ends: before the first name that begins with a capital letter. */
    private static int firstType(String name) {
        for (int at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
            if (Character.isUpperCase(name.charAt(at + 1))) {
                return at;
            }
        }
        return -1;
    }
}
