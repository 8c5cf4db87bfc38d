package rlock.peer;

import com.google.gson.Gson;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The only writer of stdout; every object is one whole line. */
public final class JsonLines {
    private final Gson json = new Gson();
    private final PrintStream out;

    private JsonLines(PrintStream out) {
        this.out = out;
    }

    /** Whatever else prints goes to stderr from here on, so that no library can spoil a line. */
    public static JsonLines takeStdout() {
        PrintStream stdout = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        return new JsonLines(stdout);
    }

    public void print(Object line) {
        String text = json.toJson(line);
        synchronized (out) {
            out.print(text + "\n");
            out.flush();
        }
    }
}
