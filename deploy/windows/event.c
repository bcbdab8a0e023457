/* event NAME EVENT: each process of this name handles an event of the console, as the system makes it do. 0: Ctrl-C, 1: Ctrl-Break,
   2: the console is closed, 5: the user logs off, 6: the machine shuts down. Fails if there is no such process. */
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <tlhelp32.h>

int main(int count, char **arguments) {
    if (count != 3) return 2;
    LPTHREAD_START_ROUTINE routine =
        (LPTHREAD_START_ROUTINE)(void *)GetProcAddress(GetModuleHandleA("kernelbase.dll"), "CtrlRoutine");
    HANDLE list = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32 entry = {.dwSize = sizeof entry};
    int result = 1;
    for (BOOL found = Process32First(list, &entry); found; found = Process32Next(list, &entry)) {
        if (strcmp(entry.szExeFile, arguments[1]) != 0) continue;
        HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, entry.th32ProcessID);
        void *event = (void *)(ULONG_PTR)atoi(arguments[2]);
        if (process && routine && CreateRemoteThread(process, NULL, 0, routine, event, 0, NULL)) result = 0;
    }
    return result;
}
